// Float values with operators: what the formulas of the vector math are written in.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/backend/llvm/builder.hpp>

namespace tilewright::backend::llvm::detail::math {

/// A float value with the operators that the formulas below are written in.
struct num {
  const builder* b;
  value_ref v;
  bool wide;  // f64
  int lanes;

  type_ref type() const { return b->vector(wide ? b->f64 : b->f32, lanes); }
  type_ref word() const { return wide ? b->i64 : b->i32; }
  num with(value_ref x) const { return {b, x, wide, lanes}; }
  num number(double x) const { return with(b->real(wide ? b->f64 : b->f32, x, lanes)); }
  value_ref integer(std::int64_t x) const { return b->integer(word(), x, lanes); }
  value_ref raw() const { return b->convert(opcode::bitcast, v, b->vector(word(), lanes)); }
  num from_raw(value_ref bits) const { return with(b->convert(opcode::bitcast, bits, type())); }
  num unary(const char* name) const { return with(b->intrinsic(name, {type()}, {v})); }
  num with_sign_of(const num& x) const {
    return with(b->intrinsic("llvm.copysign", {type()}, {v, x.v}));
  }
};

inline num operator+(const num& x, const num& y) {
  return x.with(x.b->binary(opcode::fadd, x.v, y.v));
}
inline num operator-(const num& x, const num& y) {
  return x.with(x.b->binary(opcode::fsub, x.v, y.v));
}
inline num operator*(const num& x, const num& y) {
  return x.with(x.b->binary(opcode::fmul, x.v, y.v));
}
inline num operator/(const num& x, const num& y) {
  return x.with(x.b->binary(opcode::fdiv, x.v, y.v));
}
inline num operator+(const num& x, double y) { return x + x.number(y); }
inline num operator-(const num& x, double y) { return x - x.number(y); }
inline num operator*(const num& x, double y) { return x * x.number(y); }
inline num operator-(const num& x) { return x.with(x.b->c.BuildFNeg(x.b->b, x.v, "")); }
inline num madd(const num& x, const num& y, const num& z) {
  return x.with(x.b->multiply_add(x.v, y.v, z.v));
}
inline num madd(const num& x, double y, const num& z) { return madd(x, x.number(y), z); }
inline value_ref test(real_predicate p, const num& x, const num& y) {
  return x.b->compare(p, x.v, y.v);
}
inline value_ref test(real_predicate p, const num& x, double y) { return test(p, x, x.number(y)); }
inline num choose(value_ref condition, const num& yes, const num& no) {
  return yes.with(yes.b->select(condition, yes.v, no.v));
}
inline num choose(value_ref condition, double yes, const num& no) {
  return choose(condition, no.number(yes), no);
}

/// c[0] + c[1] x + ...
template <std::size_t N>
num polynomial(const num& x, const std::array<double, N>& c) {
  num sum = x.number(c[N - 1]);
  for (std::size_t i = N - 1; i-- > 0;) sum = madd(sum, x, x.number(c[i]));
  return sum;
}

/// Lower and upper limit of |x| that a rational or an exponential needs; keeps NaN.
inline num clamp(const num& x, double low, double high) {
  const num upper = choose(test(real_predicate::ogt, x, high), high, x);
  return choose(test(real_predicate::olt, upper, low), low, upper);
}

/// Nearest integer, as a float and in `bits`; |x| below 2^22 (f32) or 2^51. NaN gives arbitrary
/// bits and no poison, which a conversion instruction would.
inline num nearest(const num& x, value_ref& bits) {
  const double magic = x.wide ? 0x1.8p52 : 0x1.8p23;
  const num shifted = x + magic;
  bits = x.b->binary(opcode::sub, shifted.raw(), x.number(magic).raw());
  return shifted - magic;
}

/// 2^n for an integer n whose power is a normal number.
inline num power_of_two(const num& x, value_ref n) {
  const int mantissa = x.wide ? 52 : 23, bias = x.wide ? 1023 : 127;
  const value_ref field = x.b->binary(opcode::add, n, x.integer(bias));
  return x.from_raw(x.b->binary(opcode::shl, field, x.integer(mantissa)));
}

/// x * 2^n by the instruction for it, 0 where `zero` holds; null where the target has none for so
/// many lanes.
inline value_ref scale_at_once(const num& x, const num& n, value_ref zero) {
  const builder& b = *x.b;
  if (!b.cpu.has("avx512f") || x.lanes * (x.wide ? 64 : 32) != 512) return nullptr;
  const type_ref mask = x.wide ? b.i8 : b.c.IntTypeInContext(b.context, 16);
  return b.target_intrinsic(
      x.wide ? "llvm.x86.avx512.mask.scalef.pd.512" : "llvm.x86.avx512.mask.scalef.ps.512",
      {x.v, n.v, x.number(0.0).v, b.convert(opcode::bitcast, b.c.BuildNot(b.b, zero, ""), mask),
       b.integer(b.i32, 4)});  // rounds as the processor is set to
}

/// x * 2^n for an integer n, given as a float too; 0 where `zero` holds, without the underflow that
/// would take a processor a hundred cycles. Otherwise in two steps, so that results may be
/// subnormal or infinite and no factor is.
inline num scale(const num& x, const num& whole, value_ref n, value_ref zero) {
  const builder& b = *x.b;
  if (const value_ref at_once = scale_at_once(x, whole, zero)) return x.with(at_once);
  const value_ref half = b.binary(opcode::ashr, n, x.integer(1));
  const value_ref rest = b.binary(opcode::sub, n, half);
  return x * power_of_two(x, half) * choose(zero, 0.0, power_of_two(x, rest));
}

inline value_ref call_library(const num& x, std::string name,
                              const std::vector<value_ref>& arguments) {
  if (!x.wide) name += "f";
  return x.b->library_call(name.c_str(), x.wide ? x.b->f64 : x.b->f32, arguments, x.lanes);
}

/// What `usual` gives where the condition holds, else what `rare` gives, each in a block of its own, so that one of them is computed.
template <class Usual, class Rare>
value_ref in_blocks(const builder& b, value_ref condition, type_ref type, const Usual& usual,
                    const Rare& rare) {
  const value_ref function = b.here_in();
  const block_ref common = b.new_block(function, "usual"), join = b.new_block(function, "join"),
                  other = b.new_block(function, "rare");
  b.branch(condition, common, other);
  b.at(common);
  const value_ref first = usual();
  const block_ref common_end = b.here();
  b.branch(join);
  b.at(other);
  const value_ref second = rare();
  const block_ref other_end = b.here();
  b.branch(join);
  b.at(join);
  return b.phi(type, {{first, common_end}, {second, other_end}});
}

/// What `inside` gives where all lanes are `within` its domain. A vector with one lane elsewhere goes to the
/// function `name` of the C library whole.
template <class Inside>
num within_or_library(const num& x, value_ref within, const char* name,
                      const std::vector<value_ref>& arguments, const Inside& inside) {
  const builder& b = *x.b;
  const value_ref all =
      x.lanes == 1 ? within
                   : b.intrinsic("llvm.vector.reduce.and", {b.vector(b.i1, x.lanes)}, {within});
  return x.with(in_blocks(
      b, all, x.type(), [&] { return inside().v; },
      [&] { return call_library(x, name, arguments); }));
}

}  // namespace tilewright::backend::llvm::detail::math
