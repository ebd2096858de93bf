#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include <tilewright/impl/model/operators/filled.hpp>
#include <tilewright/impl/ops/winograd/transform.hpp>
#include <tilewright/model/window.hpp>
#include <tilewright/model/winograd.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::network {
namespace detail {

using ops::detail::transform_of_tile, ops::detail::winograd_transform;

/// The window of a convolution that the algorithm can compute; nothing for any other node.
inline std::optional<window_spec> winograd_window(const graph& g, const node& n) {
  if (!n.domain.empty() || n.op != "Conv" || !is_channels_last(n) || n.integer("group", 1) != 1)
    return {};
  const std::optional<constant>& filter = g.at(n.inputs[1]).data;
  const tensor_type& x = g.type_of(n.inputs[0]);
  if (!filter || (x.type != dtype::f32 && x.type != dtype::f64) || x.extents.size() != 4 ||
      g.at(n.inputs[0]).data)
    return {};
  const shape& f = filter->type().extents;
  if (f[0] != 3 || f[1] != 3) return {};
  window_spec w = window_of(node_view(g, n), {3, 3});
  for (std::size_t d = 0; d < 2; ++d)
    if (w.stride[d] != 1 || w.dilation[d] != 1 || w.begin[d] > 2 || w.end[d] > 2) return {};
  return w;
}

inline std::int64_t tiles_along(std::int64_t extent, std::int64_t tile) {
  return (extent + tile - 1) / tile;
}

class winograd_rewriter {
 public:
  winograd_rewriter(graph& g, const tile_choice& tiles, transformed_filters& filters)
      : g_(g), tiles_(tiles), filters_(filters) {}

  void run() {
    std::vector<node> nodes = std::move(g_.nodes);
    g_.nodes.clear();
    for (node& n : nodes) {
      const auto tile = n.outputs.empty() || n.outputs[0] == no_value
                            ? tiles_.end()
                            : tiles_.find(g_.at(n.outputs[0]).name);
      const std::optional<window_spec> w =
          tile == tiles_.end() ? std::nullopt : winograd_window(g_, n);
      if (w)
        rewrite(n, *w, tile->second);
      else
        g_.nodes.push_back(std::move(n));
    }
  }

 private:
  value_id add_value(std::string name, tensor_type type) {
    value v;
    v.name = std::move(name);
    v.type = std::move(type);
    return g_.add(std::move(v));
  }
  value_id add_constant(std::string name, constant c) {
    const value_id v = add_value(std::move(name), c.type());
    g_.at(v).data = std::move(c);
    return v;
  }
  value_id matrix(const std::string& name, dtype t, std::int64_t rows,
                  const std::vector<double>& numbers) {
    const auto count = static_cast<std::int64_t>(numbers.size());
    auto [c, data] = constant::make({t, {rows, count / rows}});
    for (std::int64_t k = 0; k < count; ++k)
      store_number(data, t, k, numbers[static_cast<std::size_t>(k)], 0);
    return add_constant(name, std::move(c));
  }
  void add_node(std::string op, const std::string& name, std::vector<value_id> inputs,
                value_id output, std::map<std::string, attribute, std::less<>> attributes,
                bool own) {
    node n;
    n.op = std::move(op);
    n.name = name;
    n.domain = own ? "tilewright" : "";
    n.version = own ? 1 : 13;
    n.inputs = std::move(inputs);
    n.outputs = {output};
    n.attributes = std::move(attributes);
    g_.nodes.push_back(std::move(n));
  }
  value_id reshaped(value_id v, const shape& extents) {
    const std::string name = g_.at(v).name + ".flat";
    const value_id to = add_constant(name + ".shape", constant::of_integers(extents));
    const value_id out = add_value(name, {g_.type_of(v).type, extents});
    add_node("Reshape", name, {v, to}, out, {}, false);
    return out;
  }

  /// [3, 3, C, K] to [n * n, C, K], rounded once.
  template <class T>
  static constant transformed_as(const constant& filter, const winograd_transform& t) {
    const std::int64_t n = t.points(), each = filter.type().elements() / 9;
    const std::int64_t channels = filter.type().extents[2];
    auto [out, data] = constant::make({filter.type().type, {n * n, channels, each / channels}});
    const auto* f = reinterpret_cast<const T*>(filter.data());
    auto* to = reinterpret_cast<T*>(data);
    std::vector<double> row(static_cast<std::size_t>(each));
    for (std::int64_t a = 0; a < n; ++a)
      for (std::int64_t b = 0; b < n; ++b) {
        std::fill(row.begin(), row.end(), 0.0);
        for (std::int64_t w = 0; w < 9; ++w) {
          const double factor = t.g[static_cast<std::size_t>(a * 3 + w / 3)] *
                                t.g[static_cast<std::size_t>(b * 3 + w % 3)];
          const T* from = f + w * each;
          for (std::int64_t k = 0; factor != 0 && k < each; ++k)
            row[static_cast<std::size_t>(k)] += factor * static_cast<double>(from[k]);
        }
        T* place = to + (a * n + b) * each;
        for (std::int64_t k = 0; k < each; ++k)
          place[k] = static_cast<T>(row[static_cast<std::size_t>(k)]);
      }
    return out;
  }

  const constant& transformed(const constant& filter, const winograd_transform& t) {
    const auto [at, is_new] = filters_.try_emplace({filter.data(), t.tile});
    if (is_new)
      at->second = filter.type().type == dtype::f32 ? transformed_as<float>(filter, t)
                                                    : transformed_as<double>(filter, t);
    return at->second;
  }

  void rewrite(const node& conv, const window_spec& w, std::int64_t tile) {
    const winograd_transform t = transform_of_tile(tile);
    const std::int64_t n = t.points();
    const std::string name = g_.at(conv.outputs[0]).name;
    const tensor_type x = g_.type_of(conv.inputs[0]), y = g_.type_of(conv.outputs[0]);
    const std::int64_t down = tiles_along(y.extents[1], tile),
                       across = tiles_along(y.extents[2], tile);
    const std::int64_t count = x.extents[0] * down * across;
    const std::int64_t channels = x.extents[3], outputs = y.extents[3];
    const std::map<std::string, attribute, std::less<>> tiling{
        {"tile", tile},
        {"begin", w.begin},
        {"output", std::vector<std::int64_t>{y.extents[1], y.extents[2]}}};
    const value_id made =
        add_value(name + ".tiles", {x.type, {n, n, x.extents[0], down, across, channels}});
    add_node("WinogradInput", conv.name, {conv.inputs[0], matrix(name + ".B", x.type, n, t.b)},
             made, tiling, true);
    const value_id rows = reshaped(made, {n * n, count, channels});
    const value_id factors =
        add_constant(name + ".filter", transformed(*g_.at(conv.inputs[1]).data, t));
    const value_id products = add_value(name + ".products", {x.type, {n * n, count, outputs}});
    add_node("MatMul", conv.name, {rows, factors}, products, {}, false);
    const value_id tiles = reshaped(products, {n, n, x.extents[0], down, across, outputs});
    std::vector<value_id> inputs{tiles, matrix(name + ".A", x.type, tile, t.a)};
    if (conv.has_input(2)) inputs.push_back(conv.inputs[2]);
    add_node("WinogradOutput", conv.name, std::move(inputs), conv.outputs[0], tiling, true);
  }

  graph& g_;
  const tile_choice& tiles_;
  transformed_filters& filters_;
};

/// What a convolution costs, in multiply-adds: bytes of weights pass through the core once in each run,
/// what lies between its kernels twice.
struct winograd_estimate {
  static constexpr double of_memory = 3,
                          of_cache = 1.5;  // multiply-adds of f32 in the time of a byte
  double weight_byte = of_cache;
  double pixels, channels, outputs, element;  // bytes

  double direct() const { return 9 * channels * outputs * (pixels + element * weight_byte); }
  double by_tiles(double tiles, double points) const {
    const double moved = element * (2 * points * tiles + pixels) * (channels + outputs);
    return points * channels * outputs * (1.1 * tiles + element * weight_byte) + of_cache * moved;
  }
};

}  // namespace detail

TILEWRIGHT_INLINE void winograd(graph& g, const tile_choice& tiles, transformed_filters& filters) {
  detail::winograd_rewriter(g, tiles, filters).run();
}

TILEWRIGHT_INLINE std::map<std::string, std::vector<std::int64_t>, std::less<>> winograd_tiles(
    const graph& g, bool streams_weights) {
  std::map<std::string, std::vector<std::int64_t>, std::less<>> out;
  for (const node& n : g.nodes) {
    if (!detail::winograd_window(g, n)) continue;
    const tensor_type& y = g.type_of(n.outputs[0]);
    detail::winograd_estimate about;
    if (streams_weights) about.weight_byte = about.of_memory;
    const std::int64_t pixels = y.elements() / y.extents[3];  // without remainder
    about.pixels = static_cast<double>(pixels);
    about.channels = static_cast<double>(g.type_of(n.inputs[0]).extents[3]);
    about.outputs = static_cast<double>(y.extents[3]);
    about.element = static_cast<double>(bytes(y.type));
    std::vector<std::pair<double, std::int64_t>> costs;
    for (const std::int64_t tile : {2, 4, 6}) {
      const std::int64_t tiles = y.extents[0] * detail::tiles_along(y.extents[1], tile) *
                                 detail::tiles_along(y.extents[2], tile);
      const double cost =
          about.by_tiles(static_cast<double>(tiles), static_cast<double>((tile + 2) * (tile + 2)));
      if (cost < 0.9 * about.direct()) costs.emplace_back(cost, tile);
    }
    std::sort(costs.begin(), costs.end());
    std::vector<std::int64_t>& tiles = out[g.at(n.outputs[0]).name];
    for (const auto& [cost, tile] : costs)
      if (tiles.size() < 2 && cost < 1.3 * costs[0].first) tiles.push_back(tile);
  }
  return out;
}

}  // namespace tilewright::network
