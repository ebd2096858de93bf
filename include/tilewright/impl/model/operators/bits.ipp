#pragma once

#include <tilewright/impl/model/operators/elements.hpp>
#include <tilewright/model/operators.hpp>

// Operators on the bits of integers.
namespace tilewright::network {
namespace detail {

inline void infer_bits(inference& n) {
  if (!is_integer(n.in(0).type)) n.fail("its inputs have to be integers");
  infer_broadcast(n);
}

inline void infer_shift(inference& n) {
  const std::string way = n.what().text("direction", "");
  if (way != "LEFT" && way != "RIGHT")
    n.fail("attribute direction is \"" + way + "\"; write LEFT or RIGHT");
  if (!is_integer(n.in(0).type)) n.fail("its inputs have to be integers");
  infer_broadcast(n);
}

/// Amounts of all the bits and more, and those below 0, leave nothing but the sign that a shift to
/// the right copies.
inline runtime_expression shifted(const runtime_expression& a, const runtime_expression& amount,
                                  const node& n) {
  const bool left = n.text("direction", "") == "LEFT";
  const dtype t = a.type();
  const int most = bits(t) - 1;
  runtime_expression fits = amount <= most;
  if (!is_unsigned(t)) fits = fits & (amount >= 0);
  const runtime_expression zero = dsl::runtime_literal(t, 0);
  const runtime_expression rest =
      left || is_unsigned(t) ? zero : shift_right(a, dsl::runtime_literal(t, most));
  return select(fits, left ? shift_left(a, amount) : shift_right(a, amount), rest);
}

}  // namespace detail

TILEWRIGHT_INLINE void add_bits(std::vector<operator_definition>& to) {
  using detail::emit_fold;
  using x = const detail::runtime_expression&;
  const auto add = [&](std::string_view name, void (*infer)(inference&), void (*emit)(emission&)) {
    to.push_back({name, op_kind::elementwise, infer, emit});
  };
  add("BitwiseAnd", detail::infer_bits,
      emit_fold<[](x a, x b, const node&) { return bitwise_and(a, b); }>);
  add("BitwiseOr", detail::infer_bits,
      emit_fold<[](x a, x b, const node&) { return bitwise_or(a, b); }>);
  add("BitwiseXor", detail::infer_bits,
      emit_fold<[](x a, x b, const node&) { return bitwise_xor(a, b); }>);
  add("BitwiseNot", detail::infer_bits,
      detail::emit_activation<[](x a, const node&) { return bitwise_not(a); }>);
  add("BitShift", detail::infer_shift, emit_fold<detail::shifted>);
}

}  // namespace tilewright::network
