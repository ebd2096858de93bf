// Floats of 8 bits and less: what their bits mean, and rounding to them.
//
// Nobody computes in them: a value is widened, and a result is rounded to the nearest one, ties to
// even. What is too large becomes infinity where the type has it, else NaN where it has that, else
// the largest value; a NaN becomes the largest value where there is none.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>

#include <tilewright/support/dtype.hpp>

namespace tilewright {
namespace detail::narrow {

/// What the codes with a meaning of their own are.
enum class specials {
  ieee,    // the top exponent is infinity and NaN
  finite,  // none
  fn,      // all bits below the sign set are NaN; no infinity
  fnuz     // the code of minus zero is NaN; no infinity
};

struct format {
  int exponent_bits, mantissa_bits, bias;
  specials special;
  bool has_sign = true;

  constexpr int magnitude_bits() const { return exponent_bits + mantissa_bits; }
  constexpr unsigned sign() const { return has_sign ? 1u << magnitude_bits() : 0; }
  constexpr unsigned all() const { return (1u << magnitude_bits()) - 1; }
  constexpr unsigned infinity() const {
    return ((1u << exponent_bits) - 1) << mantissa_bits;  // of specials::ieee
  }
  constexpr unsigned largest() const {
    return special == specials::ieee ? infinity() - 1 : special == specials::fn ? all() - 1 : all();
  }
  constexpr unsigned nan() const {
    if (special == specials::ieee) return infinity() | 1u << (mantissa_bits - 1);
    return special == specials::fn ? all() : special == specials::fnuz ? sign() : largest();
  }
};

constexpr format format_of(dtype t) {
  constexpr format formats[] = {
      {3, 4, 3, specials::ieee},         // float8_e3m4
      {4, 3, 7, specials::ieee},         // float8_e4m3
      {4, 3, 11, specials::fnuz},        // float8_e4m3b11fnuz
      {4, 3, 7, specials::fn},           // float8_e4m3fn
      {4, 3, 8, specials::fnuz},         // float8_e4m3fnuz
      {5, 2, 15, specials::ieee},        // float8_e5m2
      {5, 2, 16, specials::fnuz},        // float8_e5m2fnuz
      {8, 0, 127, specials::fn, false},  // float8_e8m0fnu: powers of two alone, no zero
      {2, 3, 1, specials::finite},       // float6_e2m3fn
      {3, 2, 3, specials::finite},       // float6_e3m2fn
      {2, 1, 1, specials::finite},       // float4_e2m1fn
  };
  static_assert(std::size(formats) == dtypes::narrow_floats.size());
  return formats[dtypes::code(t) - dtypes::first_narrow_float];
}

}  // namespace detail::narrow

/// The value of the bits `raw` of a float of 8 bits or less.
inline float widen_narrow(dtype t, std::uint8_t raw) {
  using namespace detail::narrow;
  const format f = format_of(t);
  const unsigned magnitude = raw & f.all();
  const float sign = (raw & f.sign()) != 0 ? -1.0f : 1.0f;
  const bool minus_zero = f.has_sign && magnitude == 0 && sign < 0;
  const bool is_nan = f.special == specials::ieee   ? magnitude > f.infinity()
                      : f.special == specials::fn   ? magnitude == f.all()
                      : f.special == specials::fnuz ? minus_zero
                                                    : false;
  if (is_nan) return std::numeric_limits<float>::quiet_NaN();
  if (f.special == specials::ieee && magnitude == f.infinity())
    return sign * std::numeric_limits<float>::infinity();
  const int exponent = static_cast<int>(magnitude >> f.mantissa_bits);
  const auto mantissa = static_cast<float>(magnitude & ((1u << f.mantissa_bits) - 1));
  const auto one = static_cast<float>(1u << f.mantissa_bits);
  const bool subnormal = exponent == 0 && f.has_sign;
  return sign * std::ldexp(subnormal ? mantissa : mantissa + one,
                           (subnormal ? 1 : exponent) - f.bias - f.mantissa_bits);
}

/// The bits of the value of the type that is nearest to x, ties to even.
inline std::uint8_t round_to_narrow(dtype t, double x) {
  using namespace detail::narrow;
  const format f = format_of(t);
  const bool negative = std::signbit(x);
  if (std::isnan(x) || (negative && x != 0 && !f.has_sign))
    return static_cast<std::uint8_t>(f.nan());
  const unsigned sign = negative ? f.sign() : 0;
  const unsigned beyond = f.special == specials::ieee     ? f.infinity() | sign
                          : f.special == specials::finite ? f.largest() | sign
                          : f.special == specials::fnuz   ? f.nan()
                                                          : f.nan() | sign;
  if (std::isinf(x)) return static_cast<std::uint8_t>(beyond);
  const double size = std::abs(x);
  const int least = (f.has_sign ? 1 : 0) - f.bias;  // smallest exponent with a full mantissa
  const int exponent = size == 0 ? least : std::max(std::ilogb(size), least);
  // In units of the last place; a carry runs into the exponent, as it should.
  auto units = static_cast<unsigned>(std::nearbyint(std::ldexp(size, f.mantissa_bits - exponent)));
  if (!f.has_sign && units == 0) units = 1;  // no zero: the smallest
  if (exponent + f.bias > 1 << f.exponent_bits) return static_cast<std::uint8_t>(beyond);
  const unsigned code =
      (static_cast<unsigned>(exponent + f.bias - (f.has_sign ? 1 : 0)) << f.mantissa_bits) + units -
      (f.has_sign ? 0u : 1u);
  if (code > f.largest()) return static_cast<std::uint8_t>(beyond);
  return static_cast<std::uint8_t>(code == 0 && f.special == specials::fnuz ? 0 : code | sign);
}

/// The largest finite value.
inline float largest_narrow(dtype t) {
  return widen_narrow(t, static_cast<std::uint8_t>(detail::narrow::format_of(t).largest()));
}
/// The least finite value.
inline float lowest_narrow(dtype t) {
  const detail::narrow::format f = detail::narrow::format_of(t);
  return widen_narrow(t, static_cast<std::uint8_t>(f.has_sign ? f.largest() | f.sign() : 0));
}
inline bool has_infinity(dtype t) {
  return !is_narrow_float(t) ||
         detail::narrow::format_of(t).special == detail::narrow::specials::ieee;
}

}  // namespace tilewright
