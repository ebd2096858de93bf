#pragma once

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <tilewright/impl/model/operators/filled.hpp>
#include <tilewright/impl/model/passes/uses.hpp>
#include <tilewright/model/passes.hpp>

namespace tilewright::network {
namespace detail {

/// A value that is another one times a number.
struct scaled_value {
  value_id of;
  double factor;
  std::size_t maker;
};

/// Nothing when a value is not made so, or somebody else reads it.
inline std::optional<scaled_value> scaled_by_number(const graph& g, const value_uses& uses,
                                                    value_id v) {
  const std::ptrdiff_t maker = uses.maker_of(v);
  if (maker < 0 || uses.of(v) != 1) return std::nullopt;
  const node& n = g.nodes[static_cast<std::size_t>(maker)];
  const bool is_product = n.op == "Mul", is_quotient = n.op == "Div";
  if (!n.domain.empty() || (!is_product && !is_quotient) || n.inputs.size() != 2)
    return std::nullopt;
  for (const std::size_t k : {std::size_t{1}, std::size_t{0}}) {
    if (is_quotient && k == 0) break;
    const value_id other = n.inputs[1 - k];
    const std::optional<constant>& c = g.at(n.inputs[k]).data;
    if (!c || c->type().elements() != 1 || g.type_of(other) != g.type_of(v)) continue;
    const double number = is_quotient ? 1 / c->number(0) : c->number(0);
    if (!std::isfinite(number) || number == 0) return std::nullopt;
    return scaled_value{other, number, static_cast<std::size_t>(maker)};
  }
  return std::nullopt;
}

/// The nodes of a product without factors on its sides, and one factor behind it.
class product_scaler {
 public:
  explicit product_scaler(graph& g) : g_(g), uses_(g), is_gone_(g.nodes.size(), false) {}

  void run() {
    std::vector<std::vector<node>> parts;
    const std::size_t count = g_.nodes.size();
    for (std::size_t k = 0; k < count; ++k) parts.push_back(rewritten(g_.nodes[k]));
    std::vector<node> out;
    for (std::size_t k = 0; k < count; ++k)
      if (!is_gone_[k])
        for (node& n : parts[k]) out.push_back(std::move(n));
    g_.nodes = std::move(out);
  }

 private:
  std::vector<node> rewritten(node n) {
    if (n.op != "MatMul" || !n.domain.empty()) return {std::move(n)};
    // in narrow types a product without its factor may not fit
    const tensor_type type = g_.type_of(n.outputs[0]);
    if (type.type != dtype::f32 && type.type != dtype::f64) return {std::move(n)};
    double factor = 1;
    bool some = false;
    for (value_id& v : n.inputs)
      if (const std::optional<scaled_value> s = scaled_by_number(g_, uses_, v)) {
        factor *= s->factor;
        is_gone_[s->maker] = some = true;
        v = s->of;
      }
    if (!some) return {std::move(n)};
    value product;
    product.name = g_.at(n.outputs[0]).name + ".unscaled";
    product.type = type;
    value number;
    number.name = g_.at(n.outputs[0]).name + ".factor";
    number.data = filled({type.type, {}}, factor, 0);
    number.type = number.data->type();
    node behind;
    behind.name = n.name + ".scale";
    behind.op = "Mul";
    behind.version = n.version;
    behind.outputs = n.outputs;
    n.outputs = {g_.add(std::move(product))};
    behind.inputs = {n.outputs[0], g_.add(std::move(number))};
    return {std::move(n), std::move(behind)};
  }

  graph& g_;
  value_uses uses_;
  std::vector<bool> is_gone_;  // [nodes]
};

}  // namespace detail

TILEWRIGHT_INLINE void scale_products(graph& g) { detail::product_scaler(g).run(); }

}  // namespace tilewright::network
