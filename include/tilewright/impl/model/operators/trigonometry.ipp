#pragma once

#include <tilewright/impl/model/operators/elements.hpp>
#include <tilewright/model/operators.hpp>

// Functions of angles and hyperbolic functions, and their inverses.
namespace tilewright::network {

TILEWRIGHT_INLINE void add_trigonometry(std::vector<operator_definition>& to) {
  using detail::emit_activation;
  using x = const detail::runtime_expression&;
  const auto add = [&](std::string_view name, void (*emit)(emission&)) {
    to.push_back({name, op_kind::elementwise, detail::infer_float, emit});
  };
  add("Sin", emit_activation<[](x a, const node&) { return sin(a); }>);
  add("Cos", emit_activation<[](x a, const node&) { return cos(a); }>);
  add("Tan", emit_activation<[](x a, const node&) { return tan(a); }>);
  add("Asin", emit_activation<[](x a, const node&) { return asin(a); }>);
  add("Acos", emit_activation<[](x a, const node&) { return acos(a); }>);
  add("Atan", emit_activation<[](x a, const node&) { return atan(a); }>);
  add("Sinh", emit_activation<[](x a, const node&) { return sinh(a); }>);
  add("Cosh", emit_activation<[](x a, const node&) { return cosh(a); }>);
  add("Asinh", emit_activation<[](x a, const node&) { return asinh(a); }>);
  add("Acosh", emit_activation<[](x a, const node&) { return acosh(a); }>);
  add("Atanh", emit_activation<[](x a, const node&) { return atanh(a); }>);
}

}  // namespace tilewright::network
