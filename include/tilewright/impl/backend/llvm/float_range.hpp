// Between which numbers the values of an expression of floats lie, where its operators tell: what is limited by minimum and maximum
// needs no limit when it becomes an integer.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>

#include <tilewright/ir/expr.hpp>

namespace tilewright::backend::llvm::detail {

/// Numbers from `low` to `high`, infinities included, and no NaN.
struct float_range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();

  /// Whether each of them, with its fraction cut off, is one of the type.
  bool becomes(dtype integer) const {
    const bool positive = is_unsigned(integer);
    const double top = std::ldexp(1.0, bits(integer) - (positive ? 0 : 1));
    return low > (positive ? 0 : -top) - 1 && high < top;
  }
};

/// The range of what is rounded in steps that may be contracted: a little beyond.
inline float_range widened(double low, double high) {
  constexpr double step = 1e-6;
  return {low - step * std::abs(low), high + step * std::abs(high)};
}

/// Of `min(x, literal)` and `max(x, literal)`, which are the literal where x is NaN; with the literal in front they are x there.
inline std::optional<float_range> range_of_limited(const ir::expr& e, std::size_t at,
                                                   std::optional<float_range> x) {
  if (!x && at == 0) return std::nullopt;
  float_range out = x.value_or(float_range{});
  const double limit = e->args[at]->real;
  if (e->op == ir::op::min)
    out = {std::min(out.low, limit), std::min(out.high, limit)};
  else
    out = {std::max(out.low, limit), std::max(out.high, limit)};
  return out;
}

/// The range of an expression of 32 or 64 bits; nothing where it may be NaN, or nothing is known.
inline std::optional<float_range> range_of(const ir::expr& e) {
  if (e.type() != dtype::f32 && e.type() != dtype::f64) return std::nullopt;
  if (e->op == ir::op::real)
    return std::isnan(e->real) ? std::nullopt : std::optional(float_range{e->real, e->real});
  if (e->op == ir::op::cast) {
    const dtype from = e->args[0].type();
    if (is_float(from) || is_vector(from) || from == dtype::boolean || bits(from) > 16)
      return std::nullopt;
    const double top = std::ldexp(1.0, bits(from) - (is_unsigned(from) ? 0 : 1));
    return float_range{is_unsigned(from) ? 0 : -top, top - 1};
  }
  if (e->op == ir::op::call && e->args.size() == 1) {
    const bool rounds =
        e->name == "round" || e->name == "floor" || e->name == "ceil" || e->name == "trunc";
    const std::optional<float_range> x = rounds ? range_of(e->args[0]) : std::nullopt;
    return x ? std::optional(float_range{std::floor(x->low), std::ceil(x->high)}) : std::nullopt;
  }
  const bool limits = e->op == ir::op::min || e->op == ir::op::max;
  const bool moves = e->op == ir::op::add || e->op == ir::op::sub || e->op == ir::op::mul;
  if (!limits && !moves) return std::nullopt;
  if (limits)
    for (const std::size_t at : {std::size_t{1}, std::size_t{0}})
      if (e->args[at]->op == ir::op::real && !std::isnan(e->args[at]->real))
        return range_of_limited(e, at, range_of(e->args[1 - at]));
  const std::optional<float_range> x = range_of(e->args[0]);
  const std::optional<float_range> y = x ? range_of(e->args[1]) : std::nullopt;
  if (!y) return std::nullopt;
  if (e->op == ir::op::min)
    return float_range{std::min(x->low, y->low), std::min(x->high, y->high)};
  if (e->op == ir::op::max)
    return float_range{std::max(x->low, y->low), std::max(x->high, y->high)};
  const auto finite = [](const float_range& r) {
    return std::isfinite(r.low) && std::isfinite(r.high);
  };
  if (!finite(*x) || !finite(*y)) return std::nullopt;
  if (e->op == ir::op::add) return widened(x->low + y->low, x->high + y->high);
  if (e->op == ir::op::sub) return widened(x->low - y->high, x->high - y->low);
  const auto [low, high] =
      std::minmax({x->low * y->low, x->low * y->high, x->high * y->low, x->high * y->high});
  return widened(low, high);
}

}  // namespace tilewright::backend::llvm::detail
