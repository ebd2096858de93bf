#pragma once

#include <mutex>
#include <string>

#include <tilewright/cost/model_kind.hpp>
#include <tilewright/search/strategies/evolutionary.hpp>
#include <tilewright/search/strategies/local.hpp>
#include <tilewright/search/strategies/replay_functions.hpp>
#include <tilewright/search/strategies/replay_traces.hpp>
#include <tilewright/search/strategy.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::search {
namespace detail {

inline std::unique_ptr<strategy> make_evolution(std::shared_ptr<cost::model> model) {
  return evolutionary(std::move(model));
}

struct strategy_table {
  using model = std::shared_ptr<cost::model>;
  std::mutex guard;
  std::vector<strategy_kind> kinds{
      {"replay_functions", "members of the space, by running its function again", "",
       [](model) { return replay_functions(); }},
      {"replay_traces", "members of the space, by replaying its sketches", "",
       [](model) { return replay_traces(); }},
      {"local", "changes of the fastest programs, without a model", "",
       [](model) { return local_search(); }},
      {"evolutionary", "chains of changed programs that a model guides", "trees", make_evolution},
      {"evolutionary_random", "the same with random scores", "random", make_evolution}};

  static strategy_table& shared() {
    static strategy_table out;
    return out;
  }
};

}  // namespace detail

TILEWRIGHT_INLINE std::vector<strategy_kind> strategy_kinds() {
  detail::strategy_table& table = detail::strategy_table::shared();
  const std::lock_guard lock(table.guard);
  return table.kinds;
}

TILEWRIGHT_INLINE void add_strategy_kind(const strategy_kind& kind) {
  detail::strategy_table& table = detail::strategy_table::shared();
  const std::lock_guard lock(table.guard);
  for (strategy_kind& k : table.kinds)
    if (k.name == kind.name) {
      k = kind;
      return;
    }
  table.kinds.push_back(kind);
}

TILEWRIGHT_INLINE std::unique_ptr<strategy> make_strategy(std::string_view name, std::uint64_t seed,
                                                          std::string_view model) {
  std::string names;
  for (const strategy_kind& k : strategy_kinds()) {
    if (k.name == name) {
      const std::string_view guide = model.empty() ? k.model : model;
      if (k.model.empty()) return k.make(nullptr);
      return k.make(cost::make_model(guide, seed));
    }
    names += (names.empty() ? "" : ", ") + std::string(k.name);
  }
  throw argument_error("no strategy \"" + std::string(name) + "\"; there are " + names);
}

}  // namespace tilewright::search
