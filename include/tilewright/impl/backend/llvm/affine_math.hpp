// Arithmetic of intervals and of sums, shared by the parts of the emitter; inline throughout.
#pragma once

#include <algorithm>
#include <limits>

#include <tilewright/backend/llvm/emit.hpp>
#include <tilewright/support/find.hpp>

namespace tilewright::backend::llvm {
namespace detail::affine_math {

inline constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();

/// Values of a type; u64 as if it were signed, since its upper half has no place in an interval.
inline interval range_of(dtype t) {
  if (t == dtype::boolean) return {0, 1};
  if (bits(t) == 64 || is_float(t)) return {lowest, highest};
  const std::int64_t span = std::int64_t{1} << bits(t);
  return is_unsigned(t) ? interval{0, span - 1} : interval{-(span / 2), span / 2 - 1};
}

inline bool saturated(const interval& i) { return i.lo == lowest || i.hi == highest; }

inline interval add(const interval& a, const interval& b) {
  interval out{0, 0};
  if (__builtin_add_overflow(a.lo, b.lo, &out.lo)) return {lowest, highest};
  if (__builtin_add_overflow(a.hi, b.hi, &out.hi)) return {lowest, highest};
  return out;
}

inline interval negate(const interval& a) {
  if (a.lo == lowest) return {lowest, highest};
  return {-a.hi, -a.lo};
}

inline interval multiply(const interval& a, const interval& b) {
  std::int64_t corner[4];
  const bool over = __builtin_mul_overflow(a.lo, b.lo, &corner[0]) ||
                    __builtin_mul_overflow(a.lo, b.hi, &corner[1]) ||
                    __builtin_mul_overflow(a.hi, b.lo, &corner[2]) ||
                    __builtin_mul_overflow(a.hi, b.hi, &corner[3]);
  if (over) return {lowest, highest};
  return {*std::min_element(corner, corner + 4), *std::max_element(corner, corner + 4)};
}

inline interval unite(const interval& a, const interval& b) {
  return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
}

inline bool is_linear(ir::op o) { return o == ir::op::add || o == ir::op::sub || o == ir::op::mul; }

inline interval linear(ir::op o, const interval& a, const interval& b) {
  if (o == ir::op::add) return add(a, b);
  if (o == ir::op::sub) return add(a, negate(b));
  return multiply(a, b);
}

inline void append(affine::terms& to, const affine::terms& from, std::int64_t scale) {
  for (const auto& [v, coefficient] : from) {
    const auto found =
        support::find(to, [&, value = v](const auto& t) { return t.first == value; });
    if (found == to.end())
      to.emplace_back(v, coefficient * scale);
    else
      found->second += coefficient * scale;
  }
  to.erase(std::remove_if(to.begin(), to.end(), [](const auto& t) { return t.second == 0; }),
           to.end());
}

}  // namespace detail::affine_math

}  // namespace tilewright::backend::llvm
