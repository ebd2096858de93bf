#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <tilewright/impl/model/operators/filled.hpp>
#include <tilewright/impl/model/passes/permuted.hpp>
#include <tilewright/impl/model/passes/uses.hpp>
#include <tilewright/model/interpret.hpp>
#include <tilewright/model/operators.hpp>
#include <tilewright/model/passes.hpp>
#include <tilewright/model/window.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::network {
namespace detail {

inline bool all_known(const graph& g, const node& n, std::size_t from) {
  for (std::size_t k = from; k < n.inputs.size(); ++k)
    if (n.has_input(k) && !g.at(n.inputs[k]).data) return false;
  return true;
}

inline bool is_known(const graph& g, const node& n) {
  return all_known(g, n, 0) && support::none(n.outputs, [&](value_id v) {
           return v != no_value && g.type_of(v).elements() == 0;
         });
}

/// Elements that only change their places or their shape; nothing where a node computes. Under the
/// interpreter an element takes a hundred times the memory, which large weights do not have.
inline std::optional<constant> moved(const graph& g, const node& n) {
  const operator_definition* op = find_operator(n);
  if (!op || n.outputs.size() != 1 || !n.has_output(0) || !n.has_input(0)) return {};
  const constant& from = *g.at(n.inputs[0]).data;
  const shape& extents = g.type_of(n.outputs[0]).extents;
  if (op->kind == op_kind::alias) return from.reshaped(extents);
  if (n.op != "Transpose" || !n.domain.empty()) return {};
  const std::size_t rank = extents.size();
  std::vector<std::int64_t> reversed;
  for (std::size_t d = rank; d-- > 0;) reversed.push_back(static_cast<std::int64_t>(d));
  std::vector<std::size_t> order;
  for (const std::int64_t d : n.integers("perm", reversed))
    order.push_back(node_view(g, n).dimension(d, rank));
  return permuted(from, order);
}

inline void compute(graph& g, const node& n) {
  if (std::optional<constant> made = moved(g, n)) {
    g.at(n.outputs[0]).data = std::move(made);
    return;
  }
  std::vector<constant> inputs;
  for (const value_id v : n.inputs) inputs.push_back(v == no_value ? constant() : *g.at(v).data);
  const std::vector<constant> made = evaluate(g, n, inputs);
  for (std::size_t k = 0; k < made.size(); ++k)
    if (n.has_output(k)) g.at(n.outputs[k]).data = made[k];
}

inline value_id add_constant(graph& g, const std::string& name, constant c) {
  value v;
  v.name = name;
  v.type = c.type();
  v.data = std::move(c);
  return g.add(std::move(v));
}

/// The convolution that computes what `conv` and `norm` do, both with known weights.
inline node normalized_convolution(graph& g, const node& conv, const node& norm) {
  const constant& filter = *g.at(conv.inputs[1]).data;
  const auto stage = [&](std::size_t k) -> const constant& { return *g.at(norm.inputs[k]).data; };
  const std::int64_t channels = stage(1).type().elements();
  const double epsilon = norm.real("epsilon", 1e-5);
  auto [scaled, filter_data] = constant::make(filter.type());
  auto [bias, bias_data] = constant::make({filter.type().type, {channels}});
  const dtype t = filter.type().type;
  const std::int64_t each = filter.type().elements() / channels;
  for (std::int64_t k = 0; k < channels; ++k) {
    const double scale = stage(1).number(k) / std::sqrt(stage(4).number(k) + epsilon);
    const double before = conv.has_input(2) ? g.at(conv.inputs[2]).data->number(k) : 0;
    store_number(bias_data, t, k, (before - stage(3).number(k)) * scale + stage(2).number(k), 0);
    for (std::int64_t i = k * each; i < (k + 1) * each; ++i)
      store_number(filter_data, t, i, filter.number(i) * scale, 0);
  }
  node out = conv;
  const std::string name = g.at(conv.outputs[0]).name;
  out.inputs.resize(3);
  out.inputs[1] = add_constant(g, name + ".filter", scaled);
  out.inputs[2] = add_constant(g, name + ".bias", bias);
  out.outputs = norm.outputs;
  return out;
}

}  // namespace detail

TILEWRIGHT_INLINE void fold_constants(graph& g) {
  const detail::value_uses uses(g);
  std::vector<node> kept;
  std::vector<std::ptrdiff_t> place(g.nodes.size(), -1);  // in `kept`
  for (std::size_t k = 0; k < g.nodes.size(); ++k) {
    const node& n = g.nodes[k];
    if (detail::is_known(g, n)) {
      detail::compute(g, n);
      continue;
    }
    if (n.op == "BatchNormalization" && n.domain.empty() && detail::all_known(g, n, 1)) {
      const std::ptrdiff_t maker = uses.maker_of(n.inputs[0]);
      const std::ptrdiff_t at = maker < 0 ? -1 : place[static_cast<std::size_t>(maker)];
      if (at >= 0 && uses.of(n.inputs[0]) == 1) {
        node& conv = kept[static_cast<std::size_t>(at)];
        if (conv.op == "Conv" && conv.domain.empty() && detail::all_known(g, conv, 1) &&
            !is_channels_last(conv)) {
          conv = detail::normalized_convolution(g, conv, n);
          place[k] = at;
          continue;
        }
      }
    }
    place[k] = static_cast<std::ptrdiff_t>(kept.size());
    kept.push_back(n);
  }
  g.nodes = std::move(kept);
}

}  // namespace tilewright::network
