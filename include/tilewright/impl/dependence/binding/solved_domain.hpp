// Domains of one iteration variable, solved from what sums of variables are required to reach.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/arith/interval.hpp>
#include <tilewright/impl/dependence/binding/digit.hpp>
#include <tilewright/impl/dependence/binding/domain_inference.hpp>
#include <tilewright/impl/dependence/binding/loop_sums.hpp>
#include <tilewright/ir/visit.hpp>

namespace tilewright::dependence::domains_of {

using arith::bounds;
using arith::linear;
using loop_list = loop_nest;

using footprints::never_above;

/// The smaller (or larger) of two sums where one of them always is; nothing otherwise.
inline std::optional<linear> outer_side(const std::optional<linear>& a,
                                        const std::optional<linear>& b, bool lower,
                                        const loop_list& loops) {
  if (!a || !b) return std::nullopt;
  if (never_above(*a, *b, loops)) return lower ? a : b;
  if (never_above(*b, *a, loops)) return lower ? b : a;
  return std::nullopt;
}

/// Becomes some sum that is at least as tight as one of the two: either side is a bound of its own.
inline void narrow_side(std::optional<linear>& to, std::optional<linear>&& by, bool lower,
                        const loop_list& loops) {
  if (by && (!to || never_above(*to, *by, loops) == lower)) to = std::move(by);
}

/// floor((sum + shift) / divisor), kept a sum where the coefficients divide.
inline linear quotient(linear sum, std::int64_t shift, std::int64_t divisor,
                       const loop_list& loops) {
  sum.constant += shift;
  if (divisor == 1) return sum;
  if (linear even = sum; footprints::divide_terms(even, divisor)) {
    even.constant = ir::floor_divide(sum.constant, divisor);
    return even;
  }
  arith::analyzer known = knowing(loops);
  return arith::to_linear(
      known.simplify(ir::floordiv(arith::from_linear(sum), ir::integer(sum.type, divisor))));
}

/// How many values there are between two sums with that difference at most; nothing where only the
/// type of what is loaded or given bounds that.
inline std::optional<std::int64_t> count_within(const bounds& difference, dtype type) {
  const std::int64_t most = bits(type) < 64 ? std::numeric_limits<std::int32_t>::max() / 2
                                            : std::numeric_limits<std::int64_t>::max() / 2;
  if (difference.hi >= most) return std::nullopt;
  return difference.hi + 1;
}

inline std::optional<std::int64_t> count_of(const linear& lo, const linear& hi,
                                            const loop_list& loops) {
  return count_within(footprints::range_of_difference(hi, lo, loops), lo.type);
}

/// The values of `factor * v + [rest.lo, rest.hi]` meet [lo, hi].
inline iter_domain solve(const span& required, std::int64_t factor, const bounds& rest,
                         const loop_list& loops) {
  iter_domain out;
  if (!required.lo || !required.hi || !rest.bounded()) return out;
  const std::int64_t e = std::abs(factor);
  if (factor > 0) {
    out.lo = quotient(*required.lo, e - 1 - rest.hi, e, loops);
    out.hi = quotient(*required.hi, -rest.lo, e, loops);
  } else {
    linear lo, hi;
    lo.type = hi.type = required.lo->type;
    accumulate(lo, *required.hi, -1);
    accumulate(hi, *required.lo, -1);
    out.lo = quotient(std::move(lo), rest.lo + e - 1, e, loops);
    out.hi = quotient(std::move(hi), rest.hi, e, loops);
  }
  if (e > 1)
    if (const auto wide = count_of(*required.lo, *required.hi, loops))
      out.widest = ir::floor_divide(*wide - 1 + (rest.hi - rest.lo), e) + 1;
  return out;
}

/// The domain of a variable whose digits are the dimensions: sum of the digits' domains.
inline iter_domain join_digits(std::vector<std::pair<digit, const span*>> digits) {
  std::sort(digits.begin(), digits.end(),
            [](const auto& a, const auto& b) { return a.first.divisor < b.first.divisor; });
  iter_domain out;
  std::int64_t reached = 1;  // the digits so far cover the variable modulo this
  linear lo, hi;
  for (const auto& [d, required] : digits) {
    if (!required->lo || !required->hi) return {};
    if (d.divisor > reached && reached == 1)
      hi.constant = d.divisor - 1;  // the low digits are free
    else if (d.divisor != reached)
      return {};
    if (bits(required->lo->type) > bits(lo.type)) lo.type = hi.type = required->lo->type;
    accumulate(lo, *required->lo, d.divisor);
    accumulate(hi, *required->hi, d.divisor);
    if (d.count == 0) {
      out.lo = std::move(lo);
      out.hi = std::move(hi);
      return out;
    }
    reached = d.divisor * d.count;
  }
  return {};  // the highest digit is missing
}

/// Intersects: both are bounds of the same set.
inline void narrow(iter_domain& to, iter_domain&& by, const loop_list& loops) {
  narrow_side(to.lo, std::move(by.lo), true, loops);
  narrow_side(to.hi, std::move(by.hi), false, loops);
  if (by.widest) to.widest = to.widest ? std::min(*to.widest, *by.widest) : *by.widest;
}

}  // namespace tilewright::dependence::domains_of
