// Pixels and channels of a copy as one row.
//
//   for x in range(217):                        for e in range(651):
//     for c in vectorized(3):             ->      P[e // 3, e % 3] = X[e // 3 - 3, e % 3] if 9 <= e else 0
//       P[x, c] = X[x - 3, c] if 3 <= x else 0
//
// Lanes that run over the channels alone fill no vector, and a condition that tells pixels from each other keeps
// pixels apart. Along the elements of the row it is one comparison as well. Fills stay rows of their own: what sums start
// from is loaded row by row again, and a row that lies in two vectors waits until both are in the cache.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/pass/vector/placed_block.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/guards.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/numbers/checked.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::pass::detail {

/// Two loops around one store that go through elements side by side, the inner one shorter than a vector.
class joined_copy {
 public:
  /// One loop in the place of `outer` and the one that it holds; nothing where they are no such loops.
  static std::optional<ir::stmt> of(const ir::loop_node& outer, const target::cpu& target) {
    const ir::loop_node* inner = ir::as_loop(outer.body);
    if (!inner || outer.loop != ir::loop_kind::serial || !is_plain(outer) || !is_plain(*inner))
      return std::nullopt;
    return joined_copy(outer, *inner).made(target);
  }

 private:
  joined_copy(const ir::loop_node& outer, const ir::loop_node& inner)
      : outer_(outer),
        inner_(inner),
        row_(ir::make_var(outer.var->name + "_" + inner.var->name, outer.var.type())) {}

  static bool is_plain(const ir::loop_node& l) {
    const bool known = l.loop == ir::loop_kind::serial || l.loop == ir::loop_kind::vectorized;
    return known && !is_reduction(l) && ir::is_int(l.min, 0) && constant_extent(l) > 1;
  }

  ir::expr number(std::int64_t n) const { return ir::integer(row_.type(), n); }
  std::int64_t width() const { return constant_extent(inner_); }

  bool uses_loops(const ir::expr& e) const {
    return ir::uses_var(e, outer_.var) || ir::uses_var(e, inner_.var);
  }

  /// Whether an access takes a step at each element of the row, or none.
  bool follows(const ir::buffer& b, const std::vector<ir::expr>& indices, bool may_stay) const {
    const std::optional<std::int64_t> by = unmarked::step_along(b, indices, inner_.var),
                                      over = unmarked::step_along(b, indices, outer_.var);
    return by && over && *over == *by * width() && (*by == 1 || (may_stay && *by == 0));
  }

  std::optional<ir::stmt> made(const target::cpu& target) const {
    const std::int64_t elements = support::saturated_product(width(), constant_extent(outer_));
    if (elements > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
    const ir::if_node* guard = ir::as_if(inner_.body);
    if (guard && guard->else_body) return std::nullopt;
    const ir::store_node* store = ir::as_store(guard ? guard->then_body : inner_.body);
    if (!store || !reads_memory(store->value) || width() >= target.lanes(store->buffer->type) ||
        inner_.var.type() != row_.type() || !follows(store->buffer, store->indices, false))
      return std::nullopt;
    const std::optional<ir::expr> value = along_row(store->value, store->buffer);
    if (!value) return std::nullopt;
    ir::stmt body = ir::make_store(store->buffer, digits(store->indices), *value);
    if (guard) {
      const std::optional<ir::expr> condition = condition_along(guard->condition);
      if (!condition) return std::nullopt;
      body = ir::make_if(*condition, std::move(body));
    }
    return ir::make_loop(row_, number(0), number(elements), std::move(body),
                         ir::loop_kind::vectorized, outer_.annotations);
  }

  std::vector<ir::expr> digits(const std::vector<ir::expr>& indices) const {
    const ir::var_map map{{outer_.var, floordiv(row_, number(width()))},
                          {inner_.var, floormod(row_, number(width()))}};
    std::vector<ir::expr> out;
    for (const ir::expr& e : indices) out.push_back(ir::substitute(e, map));
    return out;
  }

  /// What is stored, which is loaded along the row or is 0 or another value of no loop where conditions fail.
  std::optional<ir::expr> along_row(const ir::expr& e, const ir::buffer& stored) const {
    if (e->op == ir::op::load) {
      if (e->buffer == stored || !follows(e->buffer, e->args, true)) return std::nullopt;
      return ir::load(e->buffer, digits(e->args));
    }
    if (e->op == ir::op::if_then_else) {
      const std::optional<ir::expr> condition = condition_along(e->args[0]),
                                    met = along_row(e->args[1], stored),
                                    other = along_row(e->args[2], stored);
      if (!condition || !met || !other) return std::nullopt;
      return ir::if_then_else(*condition, *met, *other);
    }
    return uses_loops(e) || reads_memory(e) ? std::nullopt : std::optional(e);
  }

  std::optional<ir::expr> condition_along(const ir::expr& condition) const {
    std::vector<ir::expr> out;
    for (const ir::expr& term : ir::conjuncts(condition)) {
      const std::optional<ir::expr> placed = comparison_along(term);
      if (!placed) return std::nullopt;
      out.push_back(*placed);
    }
    return ir::conjunction(out);
  }

  /// A comparison of the number of a pixel as one of its elements' numbers: a pixel lies before another one where
  /// its elements lie before the other one's first.
  std::optional<ir::expr> comparison_along(const ir::expr& term) const {
    if (reads_memory(term)) return std::nullopt;
    if (!uses_loops(term)) return term;
    std::optional<arith::linear> sum = as_nonpositive(term);
    if (!sum || sum->type != row_.type()) return std::nullopt;
    const std::int64_t by = sum->coefficient(outer_.var);
    if (by != 1 && by != -1) return std::nullopt;
    erase_if(sum->terms, [&](const auto& t) { return t.first.same(outer_.var); });
    const ir::expr rest = arith::from_linear(*sum);
    if (uses_loops(rest)) return std::nullopt;
    // rest <= x, or x < 1 - rest
    return by < 0 ? ir::le(first_element(rest), row_)
                  : ir::lt(row_, first_element(number(1) - rest));
  }

  /// Of a pixel, which is taken for the first one or the end where it lies outside, so that no product overflows.
  ir::expr first_element(const ir::expr& pixel) const {
    const std::int64_t end = constant_extent(outer_);
    if (ir::is_int(pixel))
      return number(std::clamp<std::int64_t>(ir::as_int(pixel), 0, end) * width());
    return ir::min(ir::max(pixel, number(0)), number(end)) * number(width());
  }

  const ir::loop_node &outer_, &inner_;
  ir::var row_;  // number of an element
};

}  // namespace tilewright::pass::detail
