// Conversions between the types of memory, of registers, and of the language.
#pragma once

#include <cmath>
#include <cstdint>

#include <tilewright/backend/llvm/builder.hpp>
#include <tilewright/impl/backend/llvm/triple.hpp>
#include <tilewright/support/numbers/narrow_float.hpp>

namespace tilewright::backend::llvm {

TILEWRIGHT_INLINE value_ref builder::half_to_float(value_ref raw, int lanes) const {
  if (converts_halves(cpu))
    return convert(opcode::fpext, convert(opcode::bitcast, raw, vector(half, lanes)),
                   vector(f32, lanes));
  // Exponent and mantissa move into place; multiplying by 2^112 corrects the bias and normalizes
  // subnormals. Infinities and NaNs come out as finite values of at least 2^16 and get the top
  // exponent.
  const type_ref word = vector(i32, lanes);
  const value_ref wide = convert(opcode::zext, raw, word);
  const value_ref magnitude = binary(opcode::and_, wide, integer(i32, 0x7fff, lanes));
  const value_ref sign =
      binary(opcode::shl, binary(opcode::and_, wide, integer(i32, 0x8000, lanes)),
             integer(i32, 16, lanes));
  const value_ref moved = binary(opcode::shl, magnitude, integer(i32, 13, lanes));
  const value_ref scaled =
      convert(opcode::bitcast,
              binary(opcode::fmul, convert(opcode::bitcast, moved, vector(f32, lanes)),
                     real(f32, 0x1p112, lanes)),
              word);
  const value_ref special = compare(int_predicate::uge, magnitude, integer(i32, 0x7c00, lanes));
  const value_ref top = binary(opcode::or_, moved, integer(i32, 0x7f800000, lanes));
  return convert(opcode::bitcast, binary(opcode::or_, select(special, top, scaled), sign),
                 vector(f32, lanes));
}

TILEWRIGHT_INLINE value_ref builder::float_to_half(value_ref x, int lanes) const {
  const type_ref narrow = vector(i16, lanes), word = vector(i32, lanes);
  if (converts_halves(cpu))
    return convert(opcode::bitcast, convert(opcode::fptrunc, x, vector(half, lanes)), narrow);
  const auto number = [&](std::int64_t v) { return integer(i32, v, lanes); };
  const value_ref raw = convert(opcode::bitcast, x, word);
  const value_ref magnitude = binary(opcode::and_, raw, number(0x7fffffff));
  const value_ref sign =
      binary(opcode::and_, binary(opcode::lshr, raw, number(16)), number(0x8000));
  // Normal results: rebias and round by adding half of the last place, less one when it is even.
  const value_ref odd =
      binary(opcode::and_, binary(opcode::lshr, magnitude, number(13)), number(1));
  const value_ref rebiased = binary(opcode::add, magnitude, number(-0x38000000 + 0xfff));
  const value_ref normal = binary(opcode::lshr, binary(opcode::add, rebiased, odd), number(13));
  // Subnormal results: adding 0.5 makes the hardware round at 2^-24; the low bits are the answer.
  const value_ref shifted = binary(
      opcode::fadd, convert(opcode::bitcast, magnitude, vector(f32, lanes)), real(f32, 0.5, lanes));
  const value_ref tiny =
      binary(opcode::sub, convert(opcode::bitcast, shifted, word), number(0x3f000000));
  const value_ref is_tiny = compare(int_predicate::ult, magnitude, number(0x38800000));
  const value_ref is_huge = compare(int_predicate::uge, magnitude, number(0x47800000));
  const value_ref is_nan = compare(int_predicate::ugt, magnitude, number(0x7f800000));
  const value_ref payload =
      binary(opcode::and_, binary(opcode::lshr, magnitude, number(13)), number(0x3ff));
  const value_ref quiet = binary(opcode::or_, payload, number(0x7e00));
  const value_ref special = select(is_nan, quiet, number(0x7c00));
  const value_ref finite = select(is_tiny, tiny, normal);
  return convert(opcode::trunc, binary(opcode::or_, select(is_huge, special, finite), sign),
                 narrow);
}

TILEWRIGHT_INLINE value_ref builder::float_to_brain(value_ref x, int lanes) const {
  const auto number = [&](std::int64_t v) { return integer(i32, v, lanes); };
  const value_ref raw = convert(opcode::bitcast, x, vector(i32, lanes));
  const value_ref upper = binary(opcode::lshr, raw, number(16));
  const value_ref odd = binary(opcode::and_, upper, number(1));
  const value_ref up = binary(
      opcode::lshr, binary(opcode::add, binary(opcode::add, raw, number(0x7fff)), odd), number(16));
  const value_ref nan = compare(real_predicate::uno, x, x);
  return convert(opcode::trunc, select(nan, binary(opcode::or_, upper, number(0x40)), up),
                 vector(i16, lanes));
}

TILEWRIGHT_INLINE value_ref builder::narrow_to_float(dtype t, value_ref raw, int lanes) const {
  using namespace tilewright::detail::narrow;
  const format f = format_of(t);
  const type_ref word = vector(i32, lanes);
  const auto number = [&](std::int64_t v) { return integer(i32, v, lanes); };
  const value_ref wide = convert(opcode::zext, raw, word);
  const value_ref magnitude = binary(opcode::and_, wide, number(f.all()));
  // As for f16: moved into place, then the bias corrected by a product, which is exact.
  value_ref moved = binary(opcode::shl, magnitude, number(23 - f.mantissa_bits));
  if (!f.has_sign)  // a power of two; the smallest is subnormal
    moved = select(compare(int_predicate::eq, magnitude, number(0)), number(1 << 22), moved);
  const double scale = std::ldexp(1.0, 127 - f.bias);
  value_ref out = convert(opcode::bitcast,
                          binary(opcode::fmul, convert(opcode::bitcast, moved, vector(f32, lanes)),
                                 real(f32, scale, lanes)),
                          word);
  const value_ref infinity = number(f.infinity());
  if (f.special == specials::ieee)
    out = select(compare(int_predicate::eq, magnitude, infinity), number(0x7f800000), out);
  if (f.has_sign) {
    const value_ref sign = binary(opcode::shl, binary(opcode::and_, wide, number(f.sign())),
                                  number(31 - f.magnitude_bits()));
    out = binary(opcode::or_, out, sign);
  }
  value_ref is_nan = nullptr;
  switch (f.special) {
    case specials::ieee: is_nan = compare(int_predicate::ugt, magnitude, infinity); break;
    case specials::fn: is_nan = compare(int_predicate::eq, magnitude, number(f.all())); break;
    case specials::fnuz: is_nan = compare(int_predicate::eq, wide, number(f.sign())); break;
    case specials::finite: break;
  }
  if (is_nan) out = select(is_nan, number(0x7fc00000), out);
  return convert(opcode::bitcast, out, vector(f32, lanes));
}

TILEWRIGHT_INLINE value_ref builder::float_to_narrow(dtype t, value_ref x, int lanes) const {
  using namespace tilewright::detail::narrow;
  const format f = format_of(t);
  const type_ref word = vector(i32, lanes);
  const auto number = [&](std::int64_t v) { return integer(i32, v, lanes); };
  const value_ref raw = convert(opcode::bitcast, x, word);
  const value_ref magnitude = binary(opcode::and_, raw, number(0x7fffffff));
  const int dropped = 23 - f.mantissa_bits;
  // Rebias, and round by half of the last place, less one where that place is even.
  const std::int64_t upward = (std::int64_t{1} << (dropped - 1)) - (f.has_sign ? 1 : 0);
  value_ref sum =
      binary(opcode::add, magnitude, number(upward - (std::int64_t{127 - f.bias} << 23)));
  if (f.has_sign)
    sum = binary(opcode::add, sum,
                 binary(opcode::and_, binary(opcode::lshr, magnitude, number(dropped)), number(1)));
  const value_ref normal = binary(opcode::lshr, sum, number(dropped));
  // Subnormal results: a sum whose last place is theirs; the low bits are the answer.
  const int least = f.has_sign ? 1 - f.bias : -126;
  value_ref tiny = nullptr;
  if (f.has_sign) {
    const double place = std::ldexp(1.0, least - f.mantissa_bits + 23);
    const value_ref shifted =
        convert(opcode::bitcast,
                binary(opcode::fadd, convert(opcode::bitcast, magnitude, vector(f32, lanes)),
                       real(f32, place, lanes)),
                word);
    tiny = binary(opcode::sub, shifted, convert(opcode::bitcast, real(f32, place, lanes), word));
  } else {
    tiny = convert(opcode::zext, compare(int_predicate::uge, magnitude, number(0x600000)), word);
  }
  const value_ref is_tiny =
      compare(int_predicate::ult, magnitude, number(std::int64_t{least + 127} << 23));
  const value_ref code = select(is_tiny, tiny, normal);
  value_ref sign = number(0);
  if (f.has_sign)
    sign = binary(opcode::and_, binary(opcode::lshr, raw, number(31 - f.magnitude_bits())),
                  number(f.sign()));
  value_ref out = binary(opcode::or_, code, sign);
  if (f.special == specials::fnuz)
    out = select(compare(int_predicate::eq, code, number(0)), code, out);
  const value_ref beyond =
      f.special == specials::ieee     ? binary(opcode::or_, number(f.infinity()), sign)
      : f.special == specials::finite ? binary(opcode::or_, number(f.largest()), sign)
      : f.special == specials::fnuz   ? number(f.nan())
                                      : binary(opcode::or_, number(f.nan()), sign);
  out = select(compare(int_predicate::ugt, code, number(f.largest())), beyond, out);
  value_ref nan = compare(int_predicate::ugt, magnitude, number(0x7f800000));
  if (!f.has_sign)  // negative numbers are none of the type's; minus zero is zero
    nan = binary(opcode::or_, nan, compare(int_predicate::ugt, raw, number(0x80000000)));
  return convert(opcode::trunc, select(nan, number(f.nan()), out), vector(i8, lanes));
}

TILEWRIGHT_INLINE value_ref builder::narrow_for_rounding(value_ref x, int lanes) const {
  // f64 to f32 by rounding to odd, so that a second rounding to 16 bits is as if there had been
  // only one.
  const type_ref word = vector(i32, lanes);
  const value_ref near = convert(opcode::fptrunc, x, vector(f32, lanes));
  const value_ref back = convert(opcode::fpext, near, vector(f64, lanes));
  const value_ref raw = convert(opcode::bitcast, near, word);
  const auto size = [&](value_ref v) { return intrinsic("llvm.fabs", {vector(f64, lanes)}, {v}); };
  const value_ref away = compare(real_predicate::ogt, size(back), size(x));
  const value_ref cut = binary(opcode::sub, raw, convert(opcode::zext, away, word));
  const value_ref odd = convert(opcode::bitcast, binary(opcode::or_, cut, integer(i32, 1, lanes)),
                                vector(f32, lanes));
  return select(compare(real_predicate::one, back, x), odd, near);
}

TILEWRIGHT_INLINE value_ref builder::to_held(dtype t, value_ref v, int lanes) const {
  if (t == dtype::boolean) return compare(int_predicate::ne, v, integer(i8, 0, lanes));
  if (t == dtype::f16) return half_to_float(v, lanes);
  if (t == dtype::bf16) {
    const value_ref wide = convert(opcode::zext, v, vector(i32, lanes));
    return convert(opcode::bitcast, binary(opcode::shl, wide, integer(i32, 16, lanes)),
                   vector(f32, lanes));
  }
  if (is_bit_integer(t)) return convert(opcode::trunc, v, held(t, lanes));
  if (is_narrow_float(t)) return narrow_to_float(t, v, lanes);
  return v;
}

TILEWRIGHT_INLINE value_ref builder::to_stored(dtype t, value_ref v, int lanes) const {
  if (t == dtype::boolean) return convert(opcode::zext, v, vector(i8, lanes));
  if (t == dtype::f16) return float_to_half(v, lanes);
  if (t == dtype::bf16) return float_to_brain(v, lanes);
  if (is_bit_integer(t))
    return convert(is_unsigned(t) ? opcode::zext : opcode::sext, v, stored(t, lanes));
  if (is_narrow_float(t)) return float_to_narrow(t, v, lanes);
  return v;
}

TILEWRIGHT_INLINE value_ref builder::rounded(dtype t, value_ref v, int lanes) const {
  if (t != dtype::f16 && t != dtype::bf16 && !is_narrow_float(t)) return v;
  return to_held(t, to_stored(t, v, lanes), lanes);
}

TILEWRIGHT_INLINE value_ref builder::float_to_integers(dtype to, dtype from, value_ref x,
                                                       int lanes) const {
  const bool wraps = is_unsigned(to);
  const int width = bits(to) - (wraps ? 0 : 1), digits = from == dtype::f64 ? 53 : 24;
  const double top = std::ldexp(1.0, width), bottom = wraps ? 0 : -top;
  const auto number = [&](double v) { return real(held(from), v, lanes); };
  const type_ref word = bits(to) < 32 ? vector(i32, lanes) : held(to, lanes);
  const auto converted = [&](value_ref v) {
    return convert(wraps && bits(to) >= 32 ? opcode::fptoui : opcode::fptosi, v, word);
  };
  const value_ref ordered = compare(real_predicate::ord, x, x);
  // in this order of operands: NaN becomes the bottom
  const value_ref low = number(bottom);
  x = select(compare(real_predicate::ogt, x, low), x, low);
  value_ref out = nullptr;
  if (width <= digits) {
    const value_ref high = number(top - 1);
    out = converted(select(compare(real_predicate::olt, x, high), x, high));
  } else {  // the largest integer is no float
    const value_ref beyond = compare(real_predicate::oge, x, number(top));
    const std::int64_t largest =
        wraps ? -1 : static_cast<std::int64_t>(~std::uint64_t{0} >> (64 - width));
    out =
        select(beyond, integer(held(to), largest, lanes), converted(select(beyond, number(0), x)));
  }
  if (bits(to) < 32) out = convert(opcode::trunc, out, held(to, lanes));
  return wraps ? out : select(ordered, out, integer(held(to), 0, lanes));
}

TILEWRIGHT_INLINE value_ref builder::cast(dtype to, dtype from, value_ref v, int lanes) const {
  const type_ref target = held(to, lanes);
  const bool narrow_float = to == dtype::f16 || to == dtype::bf16 || is_narrow_float(to);
  if (is_float(from) && is_float(to)) {
    if (narrow_float && from != to)
      return rounded(to, from == dtype::f64 ? narrow_for_rounding(v, lanes) : v, lanes);
    if (narrow_float) return rounded(to, v, lanes);
    if (from == dtype::f64 && to != dtype::f64) return convert(opcode::fptrunc, v, target);
    if (from != dtype::f64 && to == dtype::f64) return convert(opcode::fpext, v, target);
    return v;
  }
  if (is_float(from)) {
    const type_ref source = held(from, lanes);
    if (to == dtype::boolean) return compare(real_predicate::une, v, c.ConstNull(source));
    if (lanes > 1) return float_to_integers(to, from, v, lanes);
    return intrinsic(is_unsigned(to) ? "llvm.fptoui.sat" : "llvm.fptosi.sat", {target, source},
                     {v});
  }
  const bool from_unsigned = is_unsigned(from) || from == dtype::boolean;
  if (is_float(to)) {
    const value_ref out = convert(from_unsigned ? opcode::uitofp : opcode::sitofp, v, target);
    return rounded(to, out, lanes);
  }
  if (to == from) return v;
  if (to == dtype::boolean) return compare(int_predicate::ne, v, c.ConstNull(held(from, lanes)));
  if (bits(to) < bits(from)) return convert(opcode::trunc, v, target);
  if (bits(to) == bits(from)) return v;
  return convert(from_unsigned ? opcode::zext : opcode::sext, v, target);
}

}  // namespace tilewright::backend::llvm
