// Types that no machine computes with: integers of other widths are computed in 64 bits, floats of
// 8 bits and less in f32; what comes out is brought to the type.
#pragma once

#include <algorithm>
#include <cmath>

#include <tilewright/impl/ir/interpret/interpret_convert.hpp>
#include <tilewright/support/numbers/narrow_float.hpp>

namespace tilewright::ir::detail::interp {

/// The type whose operators compute values of `t`.
constexpr dtype computed_as(dtype t) {
  if (is_narrow_float(t)) return dtype::f32;
  return is_bit_integer(t) ? dtype::i64 : t;
}

/// The type that a step brings a value to stands in the constant of its node.
inline dtype type_in(const expr_code& n) { return static_cast<dtype>(n.constant.i); }

inline value run_wrap(const expr_code& n, machine& m) {
  return of_int(wrap_to(type_in(n), eval_int(n.a, m)));
}

/// Of what a float became in 64 bits: the nearest value of the type.
inline value run_saturate(const expr_code& n, machine& m) {
  const dtype t = type_in(n);
  const std::int64_t top = std::int64_t{1} << (bits(t) - (is_unsigned(t) ? 0 : 1));
  return of_int(std::clamp(eval_int(n.a, m), is_unsigned(t) ? 0 : -top, top - 1));
}

template <class T>
value run_round(const expr_code& n, machine& m) {
  const dtype t = type_in(n);
  return of_float(widen_narrow(t, round_to_narrow(t, get<T>(eval(n.a, m)))));
}

inline value run_narrow_bits(const expr_code& n, machine& m) {
  return of_int(round_to_narrow(type_in(n), eval(n.a, m).f));
}
inline value run_widen(const expr_code& n, machine& m) {
  return of_float(widen_narrow(type_in(n), static_cast<std::uint8_t>(eval_int(n.a, m))));
}

/// What makes a value of the type of what memory holds; null when that is the value.
inline evaluator pick_from_stored(dtype t) {
  if (is_narrow_float(t)) return &run_widen;
  return is_bit_integer(t) ? &run_wrap : nullptr;
}
/// The reverse.
inline evaluator pick_to_stored(dtype t) { return is_narrow_float(t) ? &run_narrow_bits : nullptr; }

/// What follows a cast from a type to another one, both as they are computed; null for nothing.
inline evaluator pick_after_cast(dtype to, dtype from) {
  if (is_narrow_float(to)) return from == dtype::f64 ? &run_round<double> : &run_round<float>;
  if (!is_bit_integer(to)) return nullptr;
  return is_float(from) ? &run_saturate : &run_wrap;
}

}  // namespace tilewright::ir::detail::interp
