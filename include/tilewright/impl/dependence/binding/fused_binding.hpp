// Iteration variables that are digits of one number, as `fuse` leaves them: the number instead of
// them.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/dependence/cover/footprint.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/find.hpp>

namespace tilewright::dependence::bindings {

/// Bindings with their iteration variables.
struct binding_list {
  std::vector<ir::expr> values;
  std::vector<ir::iter_var> iters;
};

/// x where one value is `x // c`, perhaps with more added to it, and the other one `x % c`: what
/// `fuse` makes of a loop. The quotient may be of a remainder by a multiple of c.
inline std::optional<ir::expr> joined(const ir::expr& high, const ir::expr& low) {
  if (low->op != ir::op::floormod) return std::nullopt;
  const ir::expr& by = low->args[1];
  arith::linear sum = arith::to_linear(high);
  const auto digit = support::find(sum.terms, [&](const auto& t) {
    if (t.second != 1 || t.first->op != ir::op::floordiv || !ir::equal(t.first->args[1], by))
      return false;
    const ir::expr& from = t.first->args[0];
    if (ir::equal(from, low->args[0])) return true;
    return from->op == ir::op::floormod && ir::equal(from->args[0], low->args[0]) &&
           ir::is_int(arith::simplify(ir::floormod(from->args[1], by)), 0);
  });
  if (digit == sum.terms.end()) return std::nullopt;
  const ir::expr number = digit->first->args[0];
  sum.terms.erase(digit);
  if (sum.terms.empty() && sum.constant == 0) return number;
  return arith::from_linear(sum) * by + number;
}

/// Without a remainder, no bindings are joined.
inline bool has_remainder(const std::vector<ir::expr>& values) {
  return support::any(values, [](const ir::expr& v) { return v->op == ir::op::floormod; });
}
inline bool has_remainder(const child_block& child) { return has_remainder(child.realize->values); }

/// The bindings with quotients and remainders of one number put together, where the number is as
/// good: extents that are no constants hide it otherwise.
inline binding_list joined_digits(binding_list out) {
  const auto join = [&](std::size_t high, std::size_t low) {
    const ir::range &outer = out.iters[high].dom, &inner = out.iters[low].dom;
    if (high == low || out.iters[high].kind != out.iters[low].kind) return false;
    const std::optional<ir::expr> number = joined(out.values[high], out.values[low]);
    if (!number || !ir::is_int(outer.min, 0) || !ir::is_int(inner.min, 0) ||
        !ir::equal(inner.extent, out.values[low]->args[1]))
      return false;
    out.values[high] = *number;
    out.iters[high].dom.extent = outer.extent * inner.extent;
    out.values.erase(out.values.begin() + static_cast<std::ptrdiff_t>(low));
    out.iters.erase(out.iters.begin() + static_cast<std::ptrdiff_t>(low));
    return true;
  };
  for (bool again = true; again;) {
    again = false;
    for (std::size_t high = 0; high < out.values.size() && !again; ++high)
      for (std::size_t low = 0; low < out.values.size() && !again; ++low) again = join(high, low);
  }
  return out;
}

inline binding_list joined_digits(const child_block& child) {
  return joined_digits(binding_list{child.realize->values, child.block().iters});
}

/// The bindings without the loops of one iteration, which hide digits from each other.
inline binding_list without_unit_loops(const child_block& child) {
  ir::var_map first;
  for (const ir::loop_node* l : child.loops)
    if (ir::is_int(l->extent, 1)) first.emplace(l->var, l->min);
  binding_list out{child.realize->values, child.block().iters};
  if (!first.empty())
    for (ir::expr& value : out.values) value = arith::simplify(ir::substitute(value, first));
  return out;
}

/// Whether every spatial variable, digits joined, is a loop of its own from position `first` on, and
/// its domain the whole of it.
inline bool are_whole_loops(const child_block& child, std::size_t first) {
  const binding_list joined = joined_digits(without_unit_loops(child));
  loop_nest whole;
  for (std::size_t i = 0; i < joined.values.size(); ++i) {
    if (joined.iters[i].kind == ir::iter_kind::reduce) continue;
    const int at = loop_index(child.loops, joined.values[i]);
    if (at < static_cast<int>(first)) return false;
    const ir::loop_node* loop = child.loops[static_cast<std::size_t>(at)];
    const ir::range& dom = joined.iters[i].dom;
    if (support::contains(whole, loop) || !arith::same_value(loop->min, dom.min) ||
        !arith::same_value(loop->extent, dom.extent))
      return false;
    whole.push_back(loop);
  }
  // a sum along one of these loops begins in one of its iterations alone
  return support::none(whole, [&](const ir::loop_node* loop) {
    for (std::size_t i = 0; i < joined.values.size(); ++i)
      if (joined.iters[i].kind == ir::iter_kind::reduce &&
          ir::uses_var(joined.values[i], loop->var))
        return true;
    return false;
  });
}

}  // namespace tilewright::dependence::bindings
