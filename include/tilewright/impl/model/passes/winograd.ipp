#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <tilewright/model/operators.hpp>
#include <tilewright/model/window.hpp>
#include <tilewright/model/winograd.hpp>
#include <tilewright/ops/winograd.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/function_ref.hpp>

namespace tilewright::network {
namespace detail {

/// Whether the algorithm can compute a node whose filter is known.
inline bool suits_winograd(const graph& g, const node& n) {
  if (!n.domain.empty() || n.op != "Conv" || !is_channels_last(n) || n.integer("group", 1) != 1)
    return false;
  const tensor_type& x = g.type_of(n.inputs[0]);
  if ((x.type != dtype::f32 && x.type != dtype::f64) || x.extents.size() != 4) return false;
  const shape& f = g.type_of(n.inputs[1]).extents;
  if (f[0] != 3 || f[1] != 3) return false;
  const window_spec w = window_of(node_view(g, n), {3, 3});
  for (std::size_t d = 0; d < 2; ++d)
    if (w.stride[d] != 1 || w.dilation[d] != 1 || w.begin[d] > 2 || w.end[d] > 2) return false;
  return true;
}

/// Whether a result of the operator differs by little more than the operand of it that does.
inline bool carries_error(const node& n) {
  static constexpr std::string_view names[] = {
      "Abs",  "Add",       "Celu", "Clip", "Elu",   "Gelu", "HardSigmoid", "HardSwish", "Identity",
      "Max",  "LeakyRelu", "Mean", "Min",  "Mish",  "Mul",  "Neg",         "PRelu",     "Relu",
      "Selu", "Sigmoid",   "Sub",  "Sum",  "Swish", "Tanh", "Softplus",    "Softsign"};
  if (n.domain.empty() && support::contains(names, n.op)) return true;
  const operator_definition* op = find_operator(n);  // copies of other operands
  return op && (op->kind == op_kind::index_map || op->kind == op_kind::alias);
}

/// What a convolution costs, in multiply-adds: bytes of weights pass through the core once in each run,
/// tiles and products lie in a cache, some rows of them at a time.
struct winograd_estimate {
  static constexpr double of_memory = 3,
                          of_cache = 1.5;      // multiply-adds of f32 in the time of a byte
  static constexpr double of_transform = 0.5;  // of a byte that is transformed
  double weight_byte = of_cache;
  double pixels, channels, outputs, element;  // bytes

  double direct() const { return 9 * channels * outputs * (pixels + element * weight_byte); }
  double by_tiles(double tiles, double points) const {
    const double moved = element * points * tiles * (channels + outputs);
    return points * channels * outputs * (1.1 * tiles + element * weight_byte) +
           of_transform * moved;
  }
};

/// Extents of tiles for a node, the most likely one first.
inline std::vector<std::int64_t> winograd_tiles(const graph& g, const node& n,
                                                const winograd_limits& limits) {
  const tensor_type& y = g.type_of(n.outputs[0]);
  const std::int64_t channels = g.type_of(n.inputs[0]).extents[3], outputs = y.extents[3];
  winograd_estimate about;
  if (limits.streams_weights) about.weight_byte = about.of_memory;
  about.pixels = static_cast<double>(y.elements() / outputs);
  about.channels = static_cast<double>(channels);
  about.outputs = static_cast<double>(outputs);
  about.element = static_cast<double>(bytes(y.type));
  const auto along = [](std::int64_t extent, std::int64_t tile) {
    return (extent + tile - 1) / tile;
  };
  std::vector<std::pair<double, std::int64_t>> costs;
  for (const std::int64_t tile : {2, 4, 6}) {
    if (!(ops::winograd_error(static_cast<int>(tile), channels, y.type) <= limits.error)) continue;
    const std::int64_t tiles = y.extents[0] * along(y.extents[1], tile) * along(y.extents[2], tile);
    const double cost =
        about.by_tiles(static_cast<double>(tiles), static_cast<double>((tile + 2) * (tile + 2)));
    if (!limits.pays || cost < 0.8 * about.direct()) costs.emplace_back(cost, tile);
  }
  std::sort(costs.begin(), costs.end());
  std::vector<std::int64_t> out;
  for (const auto& [cost, tile] : costs)
    if (!limits.pays || (out.size() < 2 && cost < 1.3 * costs[0].first)) out.push_back(tile);
  return out;
}

/// Names the tiles of a node; `knows` says which values are constants.
inline void name_winograd_tiles(const graph& g, node& n, const winograd_limits& limits,
                                support::function_ref<bool(value_id)> knows) {
  if (!suits_winograd(g, n) || knows(n.inputs[0]) || !knows(n.inputs[1])) return;
  std::vector<std::int64_t> tiles = winograd_tiles(g, n, limits);
  if (!tiles.empty()) n.attributes[winograd_attribute] = std::move(tiles);
}

/// The same for the convolution in a kernel of several nodes.
inline void name_winograd_tiles_inside(const graph& g, node& holder,
                                       const winograd_limits& limits) {
  auto body = std::make_shared<graph>(*body_of(holder));
  node* convolution = nullptr;
  for (node& n : body->nodes) {
    if (!convolution && suits_winograd(*body, n))
      convolution = &n;
    else if (!carries_error(n))
      return;
  }
  if (!convolution) return;
  name_winograd_tiles(*body, *convolution, limits, [&](value_id v) {
    if (body->at(v).data) return true;
    for (std::size_t k = 0; k < body->inputs.size(); ++k)
      if (body->inputs[k] == v) return g.at(holder.inputs.at(k)).data.has_value();
    return false;
  });
  holder.attributes["body"] = std::shared_ptr<const graph>(std::move(body));
}

}  // namespace detail

TILEWRIGHT_INLINE void winograd(graph& g, const winograd_limits& limits) {
  for (node& n : g.nodes)
    if (body_of(n))
      detail::name_winograd_tiles_inside(g, n, limits);
    else
      detail::name_winograd_tiles(g, n, limits,
                                  [&](value_id v) { return g.at(v).data.has_value(); });
}

TILEWRIGHT_INLINE std::int64_t winograd_bytes(const graph& g) {
  std::int64_t out = 0;
  for (const node& n : g.nodes) {
    if (const graph* body = body_of(n)) out += winograd_bytes(*body);
    const std::vector<std::int64_t> tiles = n.integers(winograd_attribute);
    if (tiles.empty()) continue;
    const std::int64_t points = tiles.front() + 2;
    out += g.type_of(n.inputs[1]).bytes() / 9 * (points * points - 9);
  }
  return out;
}

}  // namespace tilewright::network
