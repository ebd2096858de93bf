// Digits of a variable: what quotients and remainders by constants leave of it.
#pragma once

#include <cstdint>
#include <optional>

#include <tilewright/ir/expr.hpp>

namespace tilewright::dependence {

/// (v // divisor) % count of a variable or another value, where `count` 0 stands for no remainder.
struct digit {
  ir::expr v;
  std::int64_t divisor = 1, count = 0;
};

/// What `is_whole` accepts is a digit of itself, too. Nothing where quotients and remainders do not fit together.
template <class IsWhole>
std::optional<digit> digit_of(const ir::expr& e, const IsWhole& is_whole) {
  if (is_whole(e)) return digit{e};
  const bool quotient = e->op == ir::op::floordiv;
  if ((!quotient && e->op != ir::op::floormod) || !ir::is_int(e->args[1])) return std::nullopt;
  const std::int64_t by = ir::as_int(e->args[1]);
  std::optional<digit> of = digit_of(e->args[0], is_whole);
  if (!of || by <= 0 || of->count % by != 0) return std::nullopt;
  if (quotient) {
    of->divisor *= by;
    of->count /= by;
  } else {
    of->count = by;
  }
  return of;
}

/// Of a variable.
inline std::optional<digit> digit_of(const ir::expr& e) {
  return digit_of(e, [](const ir::expr& x) { return ir::is_var(x); });
}

}  // namespace tilewright::dependence
