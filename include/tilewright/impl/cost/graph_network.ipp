#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <numeric>
#include <unordered_map>

#include <tilewright/cost/graph_network.hpp>
#include <tilewright/impl/cost/graph_layers.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::cost {
namespace detail {

/// Whether anything is computed below each loop.
inline std::vector<bool> computing_loops(const std::vector<loop_context>& loops) {
  std::vector<bool> out(loops.size(), false);
  for (std::size_t i = loops.size(); i-- > 0;) {
    for (const double a : loops[i].arithmetic) out[i] = out[i] || a > 0;
    if (out[i] && loops[i].parent >= 0) out[static_cast<std::size_t>(loops[i].parent)] = true;
  }
  return out;
}

/// Loops of the same role inside of each loop, along the deepest chain of them.
inline std::vector<std::size_t> levels(const std::vector<loop_context>& loops) {
  std::vector<std::array<std::size_t, 3>> inside(loops.size());
  std::vector<std::size_t> out(loops.size(), 0);
  for (std::size_t i = loops.size(); i-- > 0;) {
    const auto role = static_cast<std::size_t>(loops[i].role);
    out[i] = inside[i][role];
    if (loops[i].parent < 0) continue;
    auto& up = inside[static_cast<std::size_t>(loops[i].parent)];
    for (std::size_t r = 0; r < 3; ++r) up[r] = std::max(up[r], inside[i][r] + (r == role ? 1 : 0));
  }
  return out;
}

/// Mean and deviation of each number of the nodes.
struct node_scaling {
  std::array<double, node_width> mean{}, deviation{};
  node_scaling() { deviation.fill(1); }

  static node_scaling of(const std::vector<const loop_graph*>& graphs) {
    node_scaling out;
    double n = 0;
    std::array<double, node_width> square{};
    for (const loop_graph* g : graphs)
      for (const node_row& row : g->nodes) {
        ++n;
        for (std::size_t i = 0; i < node_width; ++i) {
          const double x = static_cast<double>(row[i]);
          out.mean[i] += x;
          square[i] += x * x;
        }
      }
    if (n == 0) return {};
    for (std::size_t i = 0; i < node_width; ++i) {
      out.mean[i] /= n;
      const double variance = square[i] / n - out.mean[i] * out.mean[i];
      out.deviation[i] = variance > 1e-6 ? std::sqrt(variance) : 1;
    }
    return out;
  }
};

inline prepared_graph prepare(const loop_graph& g, const node_scaling& by) {
  const auto loops = static_cast<Eigen::Index>(g.nodes.size()), n = loops + 1;
  prepared_graph out;
  out.slots = g.slots;
  out.x.setZero(n, static_cast<Eigen::Index>(node_width));
  for (Eigen::Index i = 0; i < loops; ++i)
    for (std::size_t c = 0; c < node_width; ++c)
      out.x(i, static_cast<Eigen::Index>(c)) =
          (static_cast<double>(g.nodes[static_cast<std::size_t>(i)][c]) - by.mean[c]) /
          by.deviation[c];
  out.s = layer_matrix::Identity(n, n);
  for (Eigen::Index i = 0; i < loops; ++i) {
    out.s(i, loops) = out.s(loops, i) = 1;
    const int p = g.parents[static_cast<std::size_t>(i)];
    if (p >= 0) out.s(i, p) = out.s(p, i) = 1;
  }
  const layer_vector scale = out.s.rowwise().sum().cwiseSqrt().cwiseInverse();
  out.s = scale.asDiagonal() * out.s * scale.asDiagonal();
  return out;
}

/// Loss of scores against labels, and its derivative by each score.
struct score_loss {
  double value = 0;
  layer_vector by_score;

  score_loss(const layer_vector& scores, const std::vector<double>& labels, objective goal)
      : by_score(layer_vector::Zero(scores.size())) {
    goal == objective::squared ? add_squares(scores, labels) : add_pairs(scores, labels);
  }

 private:
  void add_squares(const layer_vector& scores, const std::vector<double>& labels) {
    const double n = static_cast<double>(labels.size());
    for (Eigen::Index i = 0; i < scores.size(); ++i) {
      const double rest = scores[i] - labels[static_cast<std::size_t>(i)];
      value += rest * rest / n;
      by_score[i] = 2 * rest / n;
    }
  }

  /// Logistic loss of all pairs, each as important as its labels differ.
  void add_pairs(const layer_vector& scores, const std::vector<double>& labels) {
    double whole = 0;
    for (std::size_t i = 0; i < labels.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) whole += std::abs(labels[i] - labels[j]);
    if (!(whole > 0)) return;
    for (std::size_t i = 0; i < labels.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) {
        const double weight = std::abs(labels[i] - labels[j]) / whole;
        if (weight == 0) continue;
        const std::size_t better = labels[i] > labels[j] ? i : j, worse = i + j - better;
        const auto b = static_cast<Eigen::Index>(better), w = static_cast<Eigen::Index>(worse);
        const double margin = scores[b] - scores[w];
        // log(1 + exp(-margin)) without overflow
        value += weight * (std::max(-margin, 0.0) + std::log1p(std::exp(-std::abs(margin))));
        const double slope = -weight / (1 + std::exp(margin));
        by_score[b] += slope;
        by_score[w] -= slope;
      }
  }
};

}  // namespace detail

TILEWRIGHT_INLINE loop_graph graph_of(const ir::function& f, const node_options& options) {
  const std::vector<loop_context> loops = loop_contexts(f);
  const std::vector<bool> computing = detail::computing_loops(loops);
  const std::vector<std::size_t> level = detail::levels(loops);
  loop_graph out;
  for (std::size_t i = 0; i < loops.size(); ++i) {
    out.nodes.push_back(loop_node(loops[i], options));
    const std::size_t store = computing[i] ? 0 : 1, role = static_cast<std::size_t>(loops[i].role);
    out.slots.push_back(static_cast<std::uint8_t>((store * 3 + role) * slot_levels +
                                                  std::min(level[i], slot_levels - 1)));
    out.parents.push_back(loops[i].parent);
  }
  return out;
}

struct graph_model::state {
  using prepared = std::shared_ptr<const detail::prepared_graph>;
  struct datum {
    prepared graph;
    support::hash128 workload;
    double seconds;
  };

  graph_network_options options;
  detail::node_scaling scaling;
  detail::layer_vector base, weights;                    // pretrained; tuned
  std::unordered_map<support::hash128, prepared> known;  // by program key
  std::vector<datum> data;
  std::size_t tuned = 0, fresh = 0;  // programs of the last tuning; since then

  prepared graph(const sample& s) {
    constexpr std::size_t most = 1 << 13;
    if (const auto found = known.find(s.key); found != known.end()) return found->second;
    if (known.size() >= most) known.clear();
    auto out = std::make_shared<const detail::prepared_graph>(
        detail::prepare(graph_of(*s.program, options.nodes), scaling));
    known.emplace(s.key, out);
    return out;
  }

  /// Programs of one workload with their labels, the best time over the own one.
  struct group {
    std::vector<prepared> graphs;
    std::vector<double> labels;
  };

  static std::vector<group> groups(const std::vector<datum>& data) {
    std::map<support::hash128, group> by_workload;
    std::map<support::hash128, double> best;
    for (const datum& d : data) {
      if (!std::isfinite(d.seconds) || !(d.seconds > 0)) continue;
      const auto [at, first] = best.try_emplace(d.workload, d.seconds);
      at->second = std::min(at->second, d.seconds);
    }
    for (const datum& d : data) {
      if (!std::isfinite(d.seconds) || !(d.seconds > 0)) continue;
      group& g = by_workload[d.workload];
      g.graphs.push_back(d.graph);
      g.labels.push_back(best[d.workload] / d.seconds);
    }
    std::vector<group> out;
    for (auto& [key, g] : by_workload) out.push_back(std::move(g));
    return out;
  }

  struct slope {
    double loss;
    detail::layer_vector by_weight;
  };

  slope at(const detail::layer_vector& w, const group& g, const std::vector<std::size_t>& chosen,
           bool convolutions) const {
    std::vector<const detail::prepared_graph*> graphs;
    std::vector<double> labels;
    for (const std::size_t i : chosen) {
      graphs.push_back(g.graphs[i].get());
      labels.push_back(g.labels[i]);
    }
    const detail::graph_pass pass(w, graphs);
    const detail::score_loss l(pass.scores(), labels, options.goal);
    return {l.value, pass.backward(l.by_score, convolutions)};
  }

  static std::vector<std::size_t> all_of(const group& g) {
    std::vector<std::size_t> out(g.graphs.size());
    std::iota(out.begin(), out.end(), std::size_t{0});
    return out;
  }

  std::vector<std::size_t> batch_of(const group& g, support::random& draws) const {
    std::vector<std::size_t> out = all_of(g);
    for (std::size_t i = out.size(); i-- > 1;) std::swap(out[i], out[draws.below(i + 1)]);
    out.resize(std::min(out.size(), options.batch));
    return out;
  }

  void tune() {
    const std::vector<group> all = groups(data);
    weights = base;
    tuned = data.size();
    fresh = 0;
    if (all.empty()) return;
    const bool convolutions = data.size() >= options.whole_from;
    detail::adam steps(weights.size(), options.tuning_rate * (convolutions ? 0.3 : 1),
                       options.decay, options.clip);
    support::random draws(options.seed);
    for (int i = 0; i < options.tuning_steps; ++i) {
      const group& g = all[static_cast<std::size_t>(i) % all.size()];
      if (g.graphs.size() < 2) continue;
      steps.step(weights, at(weights, g, batch_of(g, draws), convolutions).by_weight);
    }
  }
};

TILEWRIGHT_INLINE graph_model::graph_model(graph_network_options options)
    : state_(std::make_unique<state>()) {
  state_->options = options;
  state_->base = state_->weights = detail::random_weights(options.seed);
}
TILEWRIGHT_INLINE graph_model::~graph_model() = default;

TILEWRIGHT_INLINE std::vector<double> graph_model::predict(std::span<const sample> programs) {
  std::vector<state::prepared> held;
  std::vector<const detail::prepared_graph*> graphs;
  for (const sample& s : programs) {
    held.push_back(state_->graph(s));
    graphs.push_back(held.back().get());
  }
  if (graphs.empty()) return {};
  const detail::graph_pass pass(state_->weights, graphs);
  return {pass.scores().data(), pass.scores().data() + pass.scores().size()};
}

TILEWRIGHT_INLINE void graph_model::update(std::span<const sample> measured) {
  state& s = *state_;
  for (const sample& m : measured) {
    s.data.push_back({s.graph(m), m.workload, m.seconds});
    ++s.fresh;
  }
  if (s.data.size() > s.options.most_data)
    s.data.erase(s.data.begin(), s.data.end() - static_cast<std::ptrdiff_t>(s.options.most_data));
  const double wanted = s.options.retrain_share * static_cast<double>(s.tuned);
  if (static_cast<double>(s.fresh) >= std::max(1.0, wanted)) s.tune();
}

TILEWRIGHT_INLINE std::vector<double> graph_model::pretrain(std::span<const sample> measured) {
  state& s = *state_;
  std::vector<loop_graph> graphs;
  std::vector<const loop_graph*> pointers;
  for (const sample& m : measured) graphs.push_back(graph_of(*m.program, s.options.nodes));
  for (const loop_graph& g : graphs) pointers.push_back(&g);
  s.scaling = detail::node_scaling::of(pointers);
  s.known.clear();
  s.data.clear();
  s.tuned = s.fresh = 0;
  std::vector<state::datum> data;
  for (std::size_t i = 0; i < graphs.size(); ++i)
    data.push_back(
        {std::make_shared<const detail::prepared_graph>(detail::prepare(graphs[i], s.scaling)),
         measured[i].workload, measured[i].seconds});
  const std::vector<state::group> all = state::groups(data);
  detail::layer_vector w = detail::random_weights(s.options.seed);
  detail::adam steps(w.size(), s.options.rate, s.options.decay, s.options.clip);
  support::random draws(s.options.seed + 1);
  std::vector<double> losses;
  for (int epoch = 0; epoch < s.options.epochs; ++epoch) {
    double sum = 0, count = 0;
    for (const state::group& g : all) {
      // as many batches as see each program about once
      const std::size_t batches = (g.graphs.size() + s.options.batch - 1) / s.options.batch;
      for (std::size_t b = 0; b < batches && g.graphs.size() > 1; ++b) {
        const state::slope now = s.at(w, g, s.batch_of(g, draws), true);
        steps.step(w, now.by_weight);
        sum += now.loss;
        ++count;
      }
    }
    losses.push_back(count > 0 ? sum / count : 0);
  }
  s.base = s.weights = w;
  return losses;
}

TILEWRIGHT_INLINE std::size_t graph_model::weights() const {
  return static_cast<std::size_t>(state_->weights.size());
}

TILEWRIGHT_INLINE std::vector<double> graph_model::values() const {
  return {state_->weights.data(), state_->weights.data() + state_->weights.size()};
}

TILEWRIGHT_INLINE void graph_model::set_values(std::span<const double> values) {
  if (values.size() != weights())
    throw argument_error("graph_network: " + std::to_string(values.size()) + " weights where " +
                         std::to_string(weights()) + " are wanted");
  state_->weights = Eigen::Map<const detail::layer_vector>(
      values.data(), static_cast<Eigen::Index>(values.size()));
}

TILEWRIGHT_INLINE double graph_model::loss(std::span<const sample> measured) {
  std::vector<state::datum> data;
  for (const sample& m : measured) data.push_back({state_->graph(m), m.workload, m.seconds});
  double out = 0;
  for (const state::group& g : state::groups(data))
    out += state_->at(state_->weights, g, state::all_of(g), false).loss;
  return out;
}

TILEWRIGHT_INLINE std::vector<double> graph_model::gradient(std::span<const sample> measured) {
  std::vector<state::datum> data;
  for (const sample& m : measured) data.push_back({state_->graph(m), m.workload, m.seconds});
  detail::layer_vector out = detail::layer_vector::Zero(state_->weights.size());
  for (const state::group& g : state::groups(data))
    out += state_->at(state_->weights, g, state::all_of(g), true).by_weight;
  return {out.data(), out.data() + out.size()};
}

/// "graph_network 1 WEIGHTS", then means and deviations of the nodes, then the pretrained weights.
TILEWRIGHT_INLINE std::string graph_model::save() const {
  const state& s = *state_;
  std::string out = "graph_network 1 " + std::to_string(s.base.size()) + "\n";
  std::size_t on_line = 0;
  const auto put = [&](double x) {
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, static_cast<float>(x)).ptr;
    out.append(text, end);
    out += ++on_line % 16 == 0 ? '\n' : ' ';
  };
  for (const double x : s.scaling.mean) put(x);
  for (const double x : s.scaling.deviation) put(x);
  for (Eigen::Index i = 0; i < s.base.size(); ++i) put(s.base[i]);
  return out;
}

TILEWRIGHT_INLINE void graph_model::load(std::string_view text) {
  state& s = *state_;
  const std::string head = "graph_network 1 " + std::to_string(s.base.size()) + "\n";
  if (text.substr(0, head.size()) != head)
    throw argument_error("graph_network: this is no saved network of " +
                         std::to_string(s.base.size()) + " weights");
  const char* at = text.data() + head.size();
  const char* const end = text.data() + text.size();
  const auto next = [&]() -> double {
    while (at != end && (*at == ' ' || *at == '\n')) ++at;
    float x = 0;
    const auto [stop, problem] = std::from_chars(at, end, x);
    if (problem != std::errc() || !std::isfinite(x))
      throw argument_error("graph_network: a number is missing or not finite at byte " +
                           std::to_string(at - text.data()));
    at = stop;
    return static_cast<double>(x);
  };
  detail::node_scaling scaling;
  for (double& x : scaling.mean) x = next();
  for (double& x : scaling.deviation)
    if (x = next(); !(x > 0)) throw argument_error("graph_network: a deviation is not positive");
  detail::layer_vector base(s.base.size());
  for (Eigen::Index i = 0; i < base.size(); ++i) base[i] = next();
  s.scaling = scaling;
  s.base = s.weights = base;
  s.known.clear();
  s.data.clear();  // prepared with other means
  s.tuned = s.fresh = 0;
}

}  // namespace tilewright::cost
