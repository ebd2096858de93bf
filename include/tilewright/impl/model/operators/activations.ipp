#pragma once

#include <tilewright/impl/model/operators/elements.hpp>
#include <tilewright/model/operators.hpp>
#include <tilewright/ops/image.hpp>

// Functions of one element that networks use between layers.
namespace tilewright::network {
namespace detail {

/// log(1 + exp(x)), which does not overflow.
inline runtime_expression softplus(const runtime_expression& x) {
  return max(x, 0) + log(1.0 + exp(-abs(x)));
}

inline runtime_expression elu(const runtime_expression& x, double alpha) {
  return select(x > 0, x, alpha * (exp(min(x, 0)) - 1.0));
}

inline runtime_expression hard_sigmoid(const runtime_expression& x, double alpha, double beta) {
  return max(min(alpha * x + beta, 1.0), 0.0);
}

inline runtime_expression gelu(const runtime_expression& x, const node& n) {
  if (n.text("approximate", "none") == "none") return ops::activate<ops::activation::gelu>(x);
  return 0.5 * x * (1.0 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

}  // namespace detail

TILEWRIGHT_INLINE void add_activations(std::vector<operator_definition>& to) {
  using detail::runtime_expression;
  const auto add = [&](std::string_view name, void (*emit)(emission&)) {
    to.push_back({name, op_kind::elementwise, detail::infer_float, emit});
  };
  to.push_back({"Relu", op_kind::elementwise, infer_same,
                detail::emit_activation<[](const runtime_expression& x, const node&) {
                  return ops::activate<ops::activation::relu>(x);
                }>});
  add("Sigmoid", detail::emit_activation<[](const runtime_expression& x, const node&) {
        return ops::activate<ops::activation::sigmoid>(x);
      }>);
  add("Tanh", detail::emit_activation<[](const runtime_expression& x, const node&) {
        return ops::activate<ops::activation::tanh>(x);
      }>);
  add("Gelu", detail::emit_activation<detail::gelu>);
  add("Softplus", detail::emit_activation<[](const runtime_expression& x, const node&) {
        return detail::softplus(x);
      }>);
  add("Softsign", detail::emit_activation<[](const runtime_expression& x, const node&) {
        return x / (1.0 + abs(x));
      }>);
  add("Elu", detail::emit_activation<[](const runtime_expression& x, const node& n) {
        return detail::elu(x, n.real("alpha", 1));
      }>);
  add("Celu", detail::emit_activation<[](const runtime_expression& x, const node& n) {
        const double alpha = n.real("alpha", 1);
        return max(x, 0) + min(alpha * (exp(x / alpha) - 1.0), 0.0);
      }>);
  add("Selu", detail::emit_activation<[](const runtime_expression& x, const node& n) {
        return n.real("gamma", 1.0507009873554805) *
               detail::elu(x, n.real("alpha", 1.6732632423543772));
      }>);
  add("LeakyRelu", detail::emit_activation<[](const runtime_expression& x, const node& n) {
        return select(x >= 0, x, n.real("alpha", 0.01) * x);
      }>);
  add("ThresholdedRelu", detail::emit_activation<[](const runtime_expression& x, const node& n) {
        return select(x > n.real("alpha", 1), x, 0.0);
      }>);
  add("HardSigmoid", detail::emit_activation<[](const runtime_expression& x, const node& n) {
        return detail::hard_sigmoid(x, n.real("alpha", 0.2), n.real("beta", 0.5));
      }>);
  add("HardSwish", detail::emit_activation<[](const runtime_expression& x, const node&) {
        return x * detail::hard_sigmoid(x, 1.0 / 6, 0.5);
      }>);
  add("Swish", detail::emit_activation<[](const runtime_expression& x, const node& n) {
        return x * sigmoid(n.real("alpha", 1) * x);
      }>);
  add("Mish", detail::emit_activation<[](const runtime_expression& x, const node&) {
        return x * tanh(detail::softplus(x));
      }>);
}

}  // namespace tilewright::network
