// Quotients that are rounded to short integers, as quantized numbers are.
#pragma once

#include <tilewright/ir/expr.hpp>

namespace tilewright::pass::detail {

/// The quotient of floats of 32 bits which `e` rounds to the nearest integer of 8 or 16 bits; null where `e` is
/// anything else.
inline const ir::expr_node* rounded_quotient(const ir::expr& e) {
  if (e->op != ir::op::cast || is_float(e.type()) || bits(e.type()) < 8 || bits(e.type()) > 16)
    return nullptr;
  const ir::expr& whole = e->args[0];
  if (whole->op != ir::op::call || whole.type() != dtype::f32 ||
      (whole->name != "round" && whole->name != "nearbyint"))
    return nullptr;
  const ir::expr& quotient = whole->args[0];
  return quotient->op == ir::op::div && quotient.type() == dtype::f32 ? quotient.get() : nullptr;
}

}  // namespace tilewright::pass::detail
