// Sums of squared differences to an earlier result, taken around a number that is known before either begins.
//
// The variance of a row sums (x - c)^2, c the mean of the row. Around any number k it is
//   sum (x - c)^2 = sum (x - k)^2 - 2 d sum (x - k) + d^2 n,   d = c - k,
// whose two sums need k alone. With k = 0 the result would be the difference of two numbers that grow with
// the square of c. With the first x for k it is not: (k - c)^2 is one of the n terms of the result, so that nothing
// on the right side is more than n + 1 times the result, whatever x and c are.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive::detail::joining {

/// scale * (x - c), or its opposite.
struct difference {
  ir::expr x;
  double scale = 1;
};

/// `e` as a difference to `c`; nothing where it is none.
inline std::optional<difference> difference_to(const ir::expr& c, const ir::expr& e) {
  if (e->args.size() != 2) return std::nullopt;
  const ir::expr &left = e->args[0], &right = e->args[1];
  const auto has = [&](const ir::expr& in) {
    bool out = false;
    ir::for_each_expr(in, [&](const ir::expr& x) { out = out || ir::equal(x, c); });
    return out;
  };
  const bool in_left = has(left), in_right = has(right);
  if (in_left == in_right) return std::nullopt;
  const ir::expr &inner = in_left ? left : right, &other = in_left ? right : left;
  if (e->op == ir::op::sub && ir::equal(inner, c)) return difference{other, 1};
  if (e->op == ir::op::add && ir::equal(inner, c))
    return difference{ir::real(e.type(), 0) - other, 1};
  if (other->op != ir::op::real || (e->op != ir::op::mul && (e->op != ir::op::div || in_right)))
    return std::nullopt;
  std::optional<difference> out = difference_to(c, inner);
  if (out) out->scale = e->op == ir::op::mul ? out->scale * other->real : out->scale / other->real;
  return out;
}

/// The difference to `c` of which `e` is the square; nothing where it is none.
inline std::optional<difference> squared_difference(const ir::expr& c, const ir::expr& e) {
  if (e->op != ir::op::mul || !ir::equal(e->args[0], e->args[1])) return std::nullopt;
  return difference_to(c, e->args[0]);
}

/// The largest parts of `e` that load from one of `results` and do not depend on `moving`, if all are equal.
inline std::optional<ir::expr> common_result(const ir::expr& e,
                                             const std::vector<ir::buffer>& results,
                                             const ir::var_set& moving) {
  const auto loads = [&](const ir::expr& x) {
    return support::any(results, [&](const ir::buffer& b) { return ir::loads_from(x, b); });
  };
  if (!loads(e)) return std::nullopt;
  if (!ir::uses_any(e, moving)) return e;
  std::optional<ir::expr> out;
  for (const ir::expr& arg : e->args) {
    if (!loads(arg)) continue;
    const std::optional<ir::expr> inner = common_result(arg, results, moving);
    if (!inner || (out && !ir::equal(*out, *inner))) return std::nullopt;
    out = inner;
  }
  return out;
}

}  // namespace tilewright::primitive::detail::joining
