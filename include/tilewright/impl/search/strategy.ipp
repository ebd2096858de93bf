#pragma once

#include <tilewright/cost/model_kind.hpp>
#include <tilewright/search/strategies/annealing.hpp>
#include <tilewright/search/strategies/droplet.hpp>
#include <tilewright/search/strategies/evolutionary.hpp>
#include <tilewright/search/strategies/exhaustive.hpp>
#include <tilewright/search/strategies/local.hpp>
#include <tilewright/search/strategies/portfolio.hpp>
#include <tilewright/search/strategies/replay_functions.hpp>
#include <tilewright/search/strategies/replay_traces.hpp>
#include <tilewright/search/strategy.hpp>
#include <tilewright/support/kind_table.hpp>

namespace tilewright::search {
namespace detail {

inline std::unique_ptr<strategy> make_evolution(std::shared_ptr<cost::model> model) {
  return evolutionary(std::move(model));
}

inline std::unique_ptr<strategy> make_annealing(std::shared_ptr<cost::model> model) {
  return annealing(std::move(model));
}

inline std::unique_ptr<strategy> make_stages(std::shared_ptr<cost::model> model) {
  std::vector<std::unique_ptr<strategy>> members;
  members.push_back(evolutionary(std::move(model)));
  members.push_back(droplet());
  return stages(std::move(members));
}

inline std::unique_ptr<strategy> make_portfolio(std::shared_ptr<cost::model> model) {
  std::vector<std::unique_ptr<strategy>> members;
  members.push_back(evolutionary(std::move(model)));
  members.push_back(droplet());
  members.push_back(local_search());
  return portfolio(std::move(members));
}

/// Lives until the process ends: an op that a static destructor calls may still tune.
inline support::kind_table<strategy_kind>& strategy_table() {
  using model = std::shared_ptr<cost::model>;
  static auto* const out = new support::kind_table<strategy_kind>(
      "strategy",
      {{"replay_functions", "members of the space, by running its function again", "",
        [](model) { return replay_functions(); }},
       {"replay_traces", "members of the space, by replaying its sketches", "",
        [](model) { return replay_traces(); }},
       {"local", "changes of the fastest programs, without a model", "",
        [](model) { return local_search(); }},
       {"evolutionary", "chains of changed programs that a model guides", "trees", make_evolution},
       {"evolutionary_random", "the same with random scores", "random", make_evolution},
       {"annealing", "simulated annealing on a model's scores", "trees", make_annealing},
       {"droplet", "coordinate descent on measured times, without a model", "",
        [](model) { return droplet(); }},
       {"stages", "evolution, and coordinate descent where it brings nothing more", "trees",
        make_stages},
       {"portfolio", "evolution, coordinate descent and local changes, each as it helps", "trees",
        make_portfolio},
       {"exhaustive", "every program, where they are few enough to be counted", "",
        [](model) { return exhaustive(); }}});
  return *out;
}

}  // namespace detail

TILEWRIGHT_INLINE std::vector<strategy_kind> strategy_kinds() {
  return detail::strategy_table().all();
}

TILEWRIGHT_INLINE void add_strategy_kind(const strategy_kind& kind) {
  detail::strategy_table().add(kind);
}

TILEWRIGHT_INLINE std::unique_ptr<strategy> make_strategy(std::string_view name, std::uint64_t seed,
                                                          std::string_view model) {
  const strategy_kind kind = detail::strategy_table().find(name);
  if (kind.model.empty()) return kind.make(nullptr);
  return kind.make(cost::make_model(model.empty() ? kind.model : model, seed));
}

}  // namespace tilewright::search
