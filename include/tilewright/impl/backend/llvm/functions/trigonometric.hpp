// Sine, cosine and tangent. |x| = n pi/2 + r with |r| <= pi/4, where pi/2 is a sum of parts so short that
// their products with n are exact; beyond `whole_turns_limit`, where n has too many digits for
// that, and for infinities and NaN, the C library is called. Coefficients are minimax fits made for
// this file.
#pragma once

#include <array>

#include <tilewright/impl/backend/llvm/pair.hpp>

namespace tilewright::backend::llvm::detail::math {

inline double whole_turns_limit(bool wide) { return wide ? 0x1p20 : 0x1p30; }

/// r + r^3 s(r^2), and 1 - r^2/2 + r^4 c(r^2), of a remainder without a tail.
struct sine_and_cosine {
  num sine, cosine;
};

/// |x| of f32, in f64: good to f32.
inline sine_and_cosine sine_and_cosine_f32(const num& magnitude, value_ref& quarters) {
  static constexpr std::array<double, 4> s{-0x1.5555554c6ffd3p-3, 0x1.111108690d270p-7,
                                           -0x1.a00f7e15c375cp-13, 0x1.6cd1b0cc7f46cp-19};
  static constexpr std::array<double, 4> c{0x1.5555554ed82f2p-5, -0x1.6c16b828a850dp-10,
                                           0x1.a010dde0e6b22p-16, -0x1.241e6ad07641fp-22};
  const num n = nearest(magnitude * 0x1.45f306dc9c883p-1, quarters);
  const num start = madd(n, -0x1.4442dp-24, madd(n, -0x1.921fb4p+0, magnitude));
  const num r = madd(n, -0x1.8469898cc5170p-48, start), z = r * r;
  return {madd(r * z, polynomial(z, s), r),
          madd(z, madd(z, polynomial(z, c), z.number(-0.5)), z.number(1.0))};
}

/// |x| of f64, with the remainder as a pair.
inline sine_and_cosine sine_and_cosine_f64(const num& magnitude, value_ref& quarters) {
  static constexpr std::array<double, 6> s{-0x1.5555555555548p-3,  0x1.111111110f7cap-7,
                                           -0x1.a01a019bfd1bep-13, 0x1.71de356714d7fp-19,
                                           -0x1.ae5e59f71760fp-26, 0x1.5d8fa376f6dffp-33};
  static constexpr std::array<double, 6> c{0x1.555555555554bp-5,  -0x1.6c16c16c14f8ap-10,
                                           0x1.a01a019c8390ap-16, -0x1.27e4f7ea377e6p-22,
                                           0x1.1ee9d75293862p-29, -0x1.8fa465f685d0ep-37};
  const num n = nearest(magnitude * 0x1.45f306dc9c883p-1, quarters);
  const num first = madd(n, -0x1.921fb544p+0, magnitude);
  const pair second = sum_pair(first, n * -0x1.0b4611a6p-34);
  const pair third = sum_pair(second.head, n * -0x1.3198a2ep-69);
  const num rest = madd(n, -0x1.b839a252049c1p-104, second.tail + third.tail);
  const pair whole = ordered_sum_pair(third.head, rest);
  const num r = whole.head, tail = whole.tail, z = r * r, half = z * 0.5;
  const num sine = r + madd(r * z, polynomial(z, s), tail * (z.number(1.0) - half));
  const pair start = ordered_sum_pair(z.number(1.0), -half);
  const num cosine = start.head + (start.tail + madd(z * z, polynomial(z, c), -(r * tail)));
  return {sine, cosine};
}

/// Of |x|, in f64.
inline sine_and_cosine sine_and_cosine_of(const num& x, value_ref& quarters) {
  const builder& b = *x.b;
  num wide = x.unary("llvm.fabs");
  if (x.wide) return sine_and_cosine_f64(wide, quarters);
  wide = {&b, b.convert(opcode::fpext, wide.v, b.vector(b.f64, x.lanes)), true, x.lanes};
  return sine_and_cosine_f32(wide, quarters);
}

inline value_ref within_turns(const num& x) {
  return test(real_predicate::ole, x.unary("llvm.fabs"), whole_turns_limit(x.wide));
}

/// A value in f64 in the type of x.
inline num narrowed_as(const num& x, const num& y) {
  return x.wide ? y : x.with(x.b->convert(opcode::fptrunc, y.v, x.type()));
}

/// y, or -y where x has the sign bit.
inline num flipped_as(const num& x, const num& y) {
  const builder& b = *x.b;
  const value_ref sign_bit = x.integer(x.wide ? std::int64_t{1} << 63 : -(std::int64_t{1} << 31));
  return y.from_raw(b.binary(opcode::xor_, y.raw(), b.binary(opcode::and_, x.raw(), sign_bit)));
}

/// sin x, or cos x, for |x| within `whole_turns_limit`.
inline num sine_or_cosine_within(const num& x, bool cosine) {
  const builder& b = *x.b;
  value_ref quarters = nullptr;
  const sine_and_cosine both = sine_and_cosine_of(x, quarters);
  const num& wide = both.sine;
  if (cosine) quarters = b.binary(opcode::add, quarters, wide.integer(1));
  const value_ref zero = wide.integer(0), one = wide.integer(1), two = wide.integer(2);
  const value_ref odd = b.compare(int_predicate::ne, b.binary(opcode::and_, quarters, one), zero);
  const num pick = choose(odd, both.cosine, both.sine);
  // the second half of a turn is the negated first
  const value_ref flip =
      b.binary(opcode::shl, b.binary(opcode::and_, quarters, two), wide.integer(62));
  num out = pick.from_raw(b.binary(opcode::xor_, pick.raw(), flip));
  out = narrowed_as(x, out);
  return cosine ? out : flipped_as(x, out);
}

/// sin x, or cos x. A vector with one lane beyond the limit goes to the C library whole.
inline num sine_or_cosine(const num& x, bool cosine) {
  return within_or_library(x, within_turns(x), cosine ? "cos" : "sin", {x.v},
                           [&] { return sine_or_cosine_within(x, cosine); });
}

/// sin x / cos x, or - cos x / sin x in the odd quarters of a turn.
inline num tangent_within(const num& x) {
  const builder& b = *x.b;
  value_ref quarters = nullptr;
  const sine_and_cosine both = sine_and_cosine_of(x, quarters);
  const value_ref odd =
      b.compare(int_predicate::ne, b.binary(opcode::and_, quarters, both.sine.integer(1)),
                both.sine.integer(0));
  const num out = choose(odd, -both.cosine, both.sine) / choose(odd, both.sine, both.cosine);
  return flipped_as(x, narrowed_as(x, out));
}

/// tan x, with the same limit.
inline num tangent(const num& x) {
  return within_or_library(x, within_turns(x), "tan", {x.v}, [&] { return tangent_within(x); });
}

}  // namespace tilewright::backend::llvm::detail::math
