#pragma once

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <tilewright/cost/adapted_trees.hpp>
#include <tilewright/impl/cost/standardization.hpp>
#include <tilewright/impl/cost/trees/leaf_process.hpp>
#include <tilewright/impl/cost/trees/tree_training.hpp>
#include <tilewright/impl/support/stage_clock.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::cost {

struct adapted_trees::state {
  struct row_list {
    std::shared_ptr<const float> x;  // [count, feature_count]
    std::size_t count = 0;
  };
  struct datum {
    row_list rows;
    support::hash128 workload, key;
    double seconds;
  };
  /// What the valid programs of one workload say.
  struct view {
    detail::leaf_process process;
    std::vector<row_list> rows;    // of its programs
    std::vector<double> by_trees;  // scores of the first of these, since the trees were trained
    std::unordered_set<support::hash128> keys;
    bool fitted = false;
    double share = 0;  // of the trees' scores beside the process
  };

  static constexpr std::size_t most_of_workload = 512;
  /// Past so many programs half as many have to be new before the trees learn again, which then takes most of
  /// what learning takes: the process knows them at once.
  static constexpr std::size_t many_programs = 128;
  static constexpr double share_of_many = 0.5;

  tree_model_options options;
  gbt prior, trees;
  std::optional<detail::leaf_space> leaves;  // of the prior; none where it has no trees
  feature_cache features;
  std::vector<datum> known;
  std::size_t trained = 0, fresh = 0;                // programs of the last training; since then
  std::unordered_map<support::hash128, view> views;  // by workload
  support::random draws;

  state(tree_model_options o, gbt p) : options(std::move(o)), draws(options.seed) {
    if (options.extractor.rows)
      throw argument_error("adapted_trees: an extractor of other features needs a tree_model");
    start_from(std::move(p));
  }

  /// Everything that was measured is looked at again.
  void start_from(gbt p) {
    if (!p.empty() && p.columns() != feature_count)
      throw argument_error("adapted_trees: the prior was trained on other features");
    prior = std::move(p);
    trees = prior;
    leaves.reset();
    if (!prior.empty()) leaves.emplace(prior);
    trained = 0;
    fresh = known.size();
    views.clear();
    for (const datum& d : known) look_at(d);
  }

  row_list rows_of(const sample& s) {
    const support::stage at("features");
    const feature_cache::rows rows = features.of(*s.program, s.key, options.features);
    if (rows->empty()) return {};
    return {{rows, rows->front().data()}, rows->size()};
  }

  double score(const row_list& rows) const {
    return static_cast<double>(trees.score(rows.x.get(), rows.count));
  }

  void learn(const sample& s) {
    row_list rows = rows_of(s);
    if (rows.count == 0) return;
    known.push_back({std::move(rows), s.workload, s.key, s.seconds});
    ++fresh;
    look_at(known.back());
  }

  /// A program counts once, and not where it failed: how slow that makes it nobody knows.
  void look_at(const datum& d) {
    if (!leaves || !detail::is_time(d.seconds)) return;
    view& v = views[d.workload];
    if (!v.keys.insert(d.key).second) return;
    if (v.process.size() >= most_of_workload) forget_half(v);
    v.process.add(leaves->of(d.rows.x.get(), d.rows.count), d.seconds, *leaves);
    v.rows.push_back(d.rows);
  }

  void forget_half(view& v) const {
    detail::leaf_process newer;
    const std::size_t from = v.process.size() / 2;
    for (std::size_t i = from; i < v.process.size(); ++i)
      newer.add(v.process.place(i), v.process.seconds(i), *leaves);
    v.process = std::move(newer);
    v.rows.erase(v.rows.begin(), v.rows.begin() + static_cast<std::ptrdiff_t>(from));
    v.by_trees.clear();
  }

  void train_if_due() {
    const bool enough = known.size() >= options.warmup || !prior.empty();
    const double share = trained < many_programs ? options.retrain_share
                                                 : std::max(options.retrain_share, share_of_many);
    if (!enough || !detail::training_is_due(fresh, trained, share)) return;
    for (auto& [workload, v] : views) v.by_trees.clear();
    trees = prior;
    trees.boost(detail::training_set(known, feature_count),
                prior.empty() ? options.trees : detail::correction_by(known.size(), options.trees));
    trained = known.size();
    fresh = 0;
  }

  /// What is known of a workload; null where the trees alone know something.
  const view* fitted_view(const support::hash128& workload) {
    const auto at = views.find(workload);
    if (at == views.end() || at->second.process.size() < 2) return nullptr;
    view& v = at->second;
    if (v.fitted) return &v;
    v.process.fit(*leaves);
    std::vector<double> by_process;
    for (std::size_t i = 0; i < v.rows.size(); ++i)
      by_process.push_back(v.process(v.process.place(i)));
    for (std::size_t i = v.by_trees.size(); i < v.rows.size(); ++i)
      v.by_trees.push_back(score(v.rows[i]));
    // both count alike where the programs that were measured are told apart
    v.share = detail::standardization::of(by_process).deviation /
              detail::standardization::of(v.by_trees).deviation;
    v.fitted = true;
    return &v;
  }
};

TILEWRIGHT_INLINE adapted_trees::adapted_trees(gbt prior, tree_model_options options)
    : state_(std::make_unique<state>(std::move(options), std::move(prior))) {}
TILEWRIGHT_INLINE adapted_trees::~adapted_trees() = default;

TILEWRIGHT_INLINE std::vector<double> adapted_trees::predict(std::span<const sample> programs) {
  state& m = *state_;
  std::vector<double> out;
  for (const sample& s : programs) {
    if (m.trees.empty()) {
      out.push_back(m.draws.unit());
      continue;
    }
    const state::row_list rows = m.rows_of(s);
    if (rows.count == 0) {
      out.push_back(0);
      continue;
    }
    const double by_trees = m.score(rows);
    const state::view* const v = m.fitted_view(s.workload);
    out.push_back(v ? v->process(m.leaves->of(rows.x.get(), rows.count)) + v->share * by_trees
                    : by_trees);
  }
  return out;
}

TILEWRIGHT_INLINE void adapted_trees::update(std::span<const sample> measured) {
  state& m = *state_;
  for (const sample& s : measured) m.learn(s);
  if (m.known.size() > m.options.most_data)
    m.known.erase(m.known.begin(),
                  m.known.end() - static_cast<std::ptrdiff_t>(m.options.most_data));
  m.train_if_due();
  for (auto& [workload, v] : m.views) v.fitted = false;
}

TILEWRIGHT_INLINE std::string adapted_trees::save() const { return state_->trees.save(); }

TILEWRIGHT_INLINE void adapted_trees::load(std::string_view text) {
  state_->start_from(gbt::load(text));
}

}  // namespace tilewright::cost
