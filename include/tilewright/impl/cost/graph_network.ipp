#pragma once

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include <tilewright/cost/graph_network.hpp>
#include <tilewright/impl/cost/network/graph_layers.hpp>
#include <tilewright/impl/cost/network/training.hpp>
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
  using training = detail::network_training<detail::graph_pass>;
  using prepared = std::shared_ptr<const detail::prepared_graph>;

  graph_network_options options;
  training net;
  detail::node_scaling scaling;
  std::unordered_map<support::hash128, prepared> known;  // by program key

  explicit state(const graph_network_options& o)
      : options(o), net(o, detail::random_weights(o.seed)) {}

  prepared made(const loop_graph& g) const {
    detail::prepared_graph out = detail::prepare(g, scaling);
    if (!options.use_template) out.slots.clear();
    return std::make_shared<const detail::prepared_graph>(std::move(out));
  }

  prepared graph(const sample& s) {
    constexpr std::size_t most = 1 << 13;
    if (const auto found = known.find(s.key); found != known.end()) return found->second;
    if (known.size() >= most) known.clear();
    prepared out = made(graph_of(*s.program, options.nodes));
    known.emplace(s.key, out);
    return out;
  }

  std::vector<training::datum> data(std::span<const sample> measured) {
    std::vector<training::datum> out;
    for (const sample& m : measured) out.push_back({graph(m), m.workload, m.seconds});
    return out;
  }
};

TILEWRIGHT_INLINE graph_model::graph_model(graph_network_options options)
    : state_(std::make_unique<state>(options)) {}
TILEWRIGHT_INLINE graph_model::~graph_model() = default;

TILEWRIGHT_INLINE std::vector<double> graph_model::predict(std::span<const sample> programs) {
  std::vector<state::prepared> held;
  std::vector<const detail::prepared_graph*> graphs;
  for (const sample& s : programs) {
    held.push_back(state_->graph(s));
    graphs.push_back(held.back().get());
  }
  return state_->net.scores(graphs);
}

TILEWRIGHT_INLINE void graph_model::update(std::span<const sample> measured) {
  for (state::training::datum& d : state_->data(measured)) state_->net.add(std::move(d));
  state_->net.tune_if_due();
}

TILEWRIGHT_INLINE std::vector<double> graph_model::pretrain(std::span<const sample> measured) {
  state& s = *state_;
  std::vector<loop_graph> graphs;
  std::vector<const loop_graph*> pointers;
  for (const sample& m : measured) graphs.push_back(graph_of(*m.program, s.options.nodes));
  for (const loop_graph& g : graphs) pointers.push_back(&g);
  s.scaling = detail::node_scaling::of(pointers);
  s.known.clear();
  std::vector<state::training::datum> data;
  for (std::size_t i = 0; i < graphs.size(); ++i)
    data.push_back({s.made(graphs[i]), measured[i].workload, measured[i].seconds});
  return s.net.pretrain(data, detail::random_weights(s.options.seed));
}

TILEWRIGHT_INLINE std::size_t graph_model::weights() const {
  return static_cast<std::size_t>(state_->net.weights.size());
}

TILEWRIGHT_INLINE std::vector<double> graph_model::values() const {
  const detail::layer_vector& w = state_->net.weights;
  return {w.data(), w.data() + w.size()};
}

TILEWRIGHT_INLINE void graph_model::set_values(std::span<const double> values) {
  if (values.size() != weights())
    throw argument_error("graph_network: " + std::to_string(values.size()) + " weights where " +
                         std::to_string(weights()) + " are wanted");
  state_->net.weights = Eigen::Map<const detail::layer_vector>(
      values.data(), static_cast<Eigen::Index>(values.size()));
}

TILEWRIGHT_INLINE std::vector<double> graph_model::embeddings(std::span<const sample> programs) {
  std::vector<state::prepared> held;
  std::vector<const detail::prepared_graph*> graphs;
  for (const sample& s : programs) {
    held.push_back(state_->graph(s));
    graphs.push_back(held.back().get());
  }
  std::vector<double> out;
  if (graphs.empty()) return out;
  const detail::graph_pass pass(state_->net.base, graphs);
  for (Eigen::Index i = 0; i < pass.embeddings().rows(); ++i)
    for (Eigen::Index c = 0; c < pass.embeddings().cols(); ++c)
      out.push_back(pass.embeddings()(i, c));
  return out;
}

TILEWRIGHT_INLINE std::vector<double> graph_model::head() const {
  const detail::layer_vector& w = state_->net.base;
  return {w.data() + detail::layout().head(), w.data() + w.size()};
}

TILEWRIGHT_INLINE void graph_model::set_head(std::span<const double> values) {
  if (static_cast<Eigen::Index>(values.size()) != detail::head_pass::size())
    throw argument_error("graph_network: " + std::to_string(values.size()) +
                         " weights where the dense layers have " +
                         std::to_string(detail::head_pass::size()));
  for (const double v : values)
    if (!std::isfinite(v)) throw argument_error("graph_network: a weight is not finite");
  detail::layer_vector& w = state_->net.base;
  std::copy(values.begin(), values.end(), w.data() + detail::layout().head());
  state_->net.weights = w;
  state_->net.forget();
}

TILEWRIGHT_INLINE double graph_model::loss(std::span<const sample> measured) {
  double out = 0;
  for (const auto& g : state::training::groups(state_->data(measured)))
    out += state_->net.at(state_->net.weights, g, state::training::all_of(g), false).loss;
  return out;
}

TILEWRIGHT_INLINE std::vector<double> graph_model::gradient(std::span<const sample> measured) {
  detail::layer_vector out = detail::layer_vector::Zero(state_->net.weights.size());
  for (const auto& g : state::training::groups(state_->data(measured)))
    out += state_->net.at(state_->net.weights, g, state::training::all_of(g), true).by_weight;
  return {out.data(), out.data() + out.size()};
}

/// "graph_network 1 WEIGHTS", then means and deviations of the nodes, then the pretrained weights.
TILEWRIGHT_INLINE std::string graph_model::save() const {
  const state& s = *state_;
  std::string out = "graph_network 1 " + std::to_string(s.net.base.size()) + "\n";
  detail::number_writer to(out);
  for (const double x : s.scaling.mean) to.put(x);
  for (const double x : s.scaling.deviation) to.put(x);
  for (Eigen::Index i = 0; i < s.net.base.size(); ++i) to.put(s.net.base[i]);
  return out;
}

TILEWRIGHT_INLINE void graph_model::load(std::string_view text) {
  state& s = *state_;
  const std::string head = "graph_network 1 " + std::to_string(s.net.base.size()) + "\n";
  if (text.substr(0, head.size()) != head)
    throw argument_error("graph_network: this is no saved network of " +
                         std::to_string(s.net.base.size()) + " weights");
  detail::number_reader from(text.substr(head.size()), "graph_network");
  detail::node_scaling scaling;
  for (double& x : scaling.mean) x = from.next();
  for (double& x : scaling.deviation) x = from.positive();
  detail::layer_vector base(s.net.base.size());
  from.fill(base);
  s.scaling = scaling;
  s.net.base = s.net.weights = base;
  s.known.clear();
  s.net.forget();  // prepared with other means
}

}  // namespace tilewright::cost
