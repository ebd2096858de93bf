#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <tilewright/impl/model/passes/uses.hpp>
#include <tilewright/model/graph.hpp>
#include <tilewright/model/inference.hpp>
#include <tilewright/model/passes.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::network::detail {

/// Numbers of element types in ONNX.
inline constexpr std::int64_t number_of_f32 = 1, number_of_f16 = 10;

inline bool is_half(const value& v) {
  return (v.type && v.type->type == dtype::f16) || (v.data && v.data->type().type == dtype::f16);
}

inline constant widened(const constant& c) {
  auto [out, data] = constant::make({dtype::f32, c.type().extents});
  for (std::int64_t k = 0; k < c.type().elements(); ++k) {
    const auto x = static_cast<float>(c.number(k));
    std::memcpy(data + 4 * k, &x, 4);
  }
  return out;
}

/// Whether most weights are read for a few rows: they come from memory, and less of f16 does.
inline bool streams_halves(const graph& g) {
  constexpr std::int64_t few = 16;  // rows
  std::int64_t all = 0, streamed = 0;
  std::set<value_id> moved;  // weights that a node turns or converts
  const auto is_weight = [&](value_id v) {
    return v != no_value && (moved.count(v) > 0 || (g.at(v).data && is_half(g.at(v))));
  };
  for (const node& n : g.nodes) {
    if (!n.has_output(0) || n.inputs.empty()) continue;
    const bool moves = n.op == "Transpose" || n.op == "Cast" || n.op == "Reshape";
    if (moves && is_weight(n.inputs[0])) {
      moved.insert(n.outputs[0]);
      continue;
    }
    const bool multiplies = n.op == "MatMul" || n.op == "Gemm";
    const shape& y = g.type_of(n.outputs[0]).extents;
    for (const value_id v : n.inputs) {
      if (!is_weight(v)) continue;
      const std::int64_t weights = g.type_of(v).elements();
      all += weights;
      if (multiplies && !y.empty() && elements_of(y) <= few * y.back()) streamed += weights;
    }
  }
  return 2 * streamed > all;
}

/// The graph while it is rewritten.
class half_widener {
 public:
  explicit half_widener(graph& g) : g_(g) {}

  /// @throws argument_error where an operator takes f16 alone, or a node rounds to it on purpose
  void run() {
    check_conversions();
    widen_attributes();
    skip_conversions();
    std::vector<value_id> halves;
    for (std::size_t v = 0; v < g_.values.size(); ++v)
      if (is_half(g_.values[v])) halves.push_back(static_cast<value_id>(v));
    std::vector<bool> is_made(g_.values.size(), false);
    for (const node& n : g_.nodes)
      for (const value_id v : n.outputs)
        if (v != no_value) is_made[static_cast<std::size_t>(v)] = true;
    convert_outputs();
    convert_inputs();
    for (const value_id v : halves) {
      value& x = g_.at(v);
      x.name += "_f32";
      if (is_made[static_cast<std::size_t>(v)]) {
        x.type.reset();  // inference finds it anew
        x.data.reset();
        continue;
      }
      if (x.data) x.data = widened(*x.data);
      x.type->type = dtype::f32;
    }
    infer_types(g_);
  }

 private:
  void widen_attributes() {
    constexpr std::array of_types{"to", "dtype", "output_dtype", "output_datatype"};
    for (node& n : g_.nodes)
      for (auto& [name, a] : n.attributes) {
        if (std::holds_alternative<std::shared_ptr<const graph>>(a))
          throw argument_error("a body has types of its own");
        if (constant* c = std::get_if<constant>(&a); c && c->type().type == dtype::f16)
          *c = widened(*c);
        const std::int64_t* number = std::get_if<std::int64_t>(&a);
        const bool is_type =
            number && *number == number_of_f16 &&
            support::any(of_types, [&, &of = name](const char* t) { return of == t; });
        if (is_type) a = number_of_f32;
      }
  }

  /// A value of f32 that is rounded to f16 for its readers of f32 alone is rounded on purpose.
  void check_conversions() const {
    const value_uses uses(g_);
    std::vector<int> casts(g_.values.size(), 0);  // [values] reads by conversions to f32
    const auto is_cast = [&](const node& n, dtype from, dtype to) {
      return n.op == "Cast" && n.domain.empty() && g_.type_of(n.inputs[0]).type == from &&
             g_.type_of(n.outputs[0]).type == to;
    };
    for (const node& n : g_.nodes)
      if (is_cast(n, dtype::f16, dtype::f32)) ++casts[static_cast<std::size_t>(n.inputs[0])];
    for (const node& n : g_.nodes)
      if (is_cast(n, dtype::f32, dtype::f16) && uses.of(n.outputs[0]) > 0 &&
          casts[static_cast<std::size_t>(n.outputs[0])] == uses.of(n.outputs[0]))
        throw argument_error("values of f32 are rounded to f16 on purpose");
  }

  /// Casts from f16 to f32, and back.
  void skip_conversions() {
    std::vector<node> kept;
    std::vector<value_id> instead(g_.values.size());
    for (std::size_t v = 0; v < instead.size(); ++v) instead[v] = static_cast<value_id>(v);
    const auto is_wide = [&](value_id v) {
      const dtype t = g_.type_of(v).type;
      return t == dtype::f16 || t == dtype::f32;
    };
    for (node& n : g_.nodes) {
      for (value_id& v : n.inputs)
        if (v != no_value) v = instead[static_cast<std::size_t>(v)];
      const bool is_nothing = n.op == "Cast" && n.domain.empty() && is_wide(n.inputs[0]) &&
                              is_wide(n.outputs[0]) && !support::contains(g_.outputs, n.outputs[0]);
      if (is_nothing)
        instead[static_cast<std::size_t>(n.outputs[0])] = n.inputs[0];
      else
        kept.push_back(std::move(n));
    }
    g_.nodes = std::move(kept);
  }

  /// A value with the name and type that the caller knows, beside the one that the network computes with.
  value_id port_of(value_id v) {
    value port = g_.at(v);
    port.data.reset();
    return g_.add(std::move(port));
  }

  node conversion(value_id from, value_id to, std::int64_t type) const {
    node out;
    out.op = "Cast";
    out.name = g_.at(to).name + (type == number_of_f16 ? "_rounded" : "_widened");
    out.version = 13;
    out.inputs = {from};
    out.outputs = {to};
    out.attributes.emplace("to", type);
    return out;
  }

  void convert_outputs() {
    std::vector<std::pair<value_id, value_id>> known;  // value and port
    for (value_id& v : g_.outputs) {
      if (!is_half(g_.at(v))) continue;
      const auto at = std::find_if(known.begin(), known.end(),
                                   [&](const auto& pair) { return pair.first == v; });
      if (at != known.end()) {
        v = at->second;
        continue;
      }
      const value_id inner = v;
      v = port_of(inner);
      known.emplace_back(inner, v);
      g_.nodes.push_back(conversion(inner, v, number_of_f16));
    }
  }

  void convert_inputs() {
    std::vector<node> first;
    for (value_id& v : g_.inputs) {
      if (!is_half(g_.at(v))) continue;
      const value_id inner = v;
      v = port_of(inner);
      g_.at(inner).dim_names.clear();
      first.push_back(conversion(v, inner, number_of_f32));
    }
    g_.nodes.insert(g_.nodes.begin(), std::make_move_iterator(first.begin()),
                    std::make_move_iterator(first.end()));
  }

  graph& g_;
};

}  // namespace tilewright::network::detail

namespace tilewright::network {

TILEWRIGHT_INLINE void widen_halves(graph& g) {
  if (support::none(g.values, detail::is_half) || detail::streams_halves(g)) return;
  graph wide = g;
  try {
    detail::half_widener(wide).run();
  } catch (const argument_error&) {  // it stays as it is
    return;
  }
  g = std::move(wide);
}

}  // namespace tilewright::network
