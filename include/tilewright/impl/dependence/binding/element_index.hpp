// Elements that instances of a block have for themselves: their variables are indices, or they read
// what they write.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/dependence/rising_numbers.hpp>
#include <tilewright/impl/dependence/scope.hpp>
#include <tilewright/ir/any_expr.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::dependence {

/// The region of an instance tells the value of the variable, which is an index of an element, or the place of
/// one in a list that rises.
inline bool is_index(const ir::iter_var& iter, const ir::buffer_region& r,
                     const rising_numbers& rising = {}) {
  const auto holds = [&](const auto& says) {
    return support::any(r.box, [&](const ir::range& d) {
      return ir::is_int(d.extent, 1) && says(rising.place(d.min));
    });
  };
  const auto is_variable = [&](const ir::expr& e) { return e.same(iter.var); };
  const auto is_shifted = [&](const ir::expr& e) {
    if (ir::is_var(e)) return false;
    const arith::linear sum = arith::to_linear(e);
    return sum.terms.size() == 1 && sum.terms[0].first.same(iter.var);
  };
  return ir::is_int(iter.dom.extent, 1) || holds(is_variable) || holds(is_shifted);
}

inline bool same_box(const ir::buffer_region& a, const ir::buffer_region& b) {
  return std::equal(a.box.begin(), a.box.end(), b.box.begin(), b.box.end(),
                    [](const ir::range& x, const ir::range& y) {
                      return arith::same_value(x.min, y.min) &&
                             arith::same_value(x.extent, y.extent);
                    });
}

/// Whether a block that stores one element reads of that buffer none but its own, and those that no instance stores since they
/// differ in an index that is a number: `P[n, 0] = P[n, 0] + P[n, 3]`. Its region of reads is the hull of all.
inline bool reads_own_or_unwritten(const ir::block_node& b, const ir::buffer& written) {
  const ir::store_node* store = ir::as_store(b.body);
  if (!store || b.init) return false;
  const auto is_own = [&](const std::vector<ir::expr>& at) {
    return std::equal(at.begin(), at.end(), store->indices.begin(), store->indices.end(),
                      [](const ir::expr& x, const ir::expr& y) { return arith::same_value(x, y); });
  };
  const auto is_elsewhere = [&](const std::vector<ir::expr>& at) {
    for (std::size_t d = 0; d < at.size(); ++d)
      if (ir::is_int(at[d]) && ir::is_int(store->indices[d]) &&
          at[d]->integer != store->indices[d]->integer)
        return true;
    return false;
  };
  return !ir::any_expr(b.body, [&](const ir::expr& e) {
    return e->op == ir::op::load && e->buffer == written && !is_own(e->args) &&
           !is_elsewhere(e->args);
  });
}

/// A buffer of which an instance reads elements that others write, or may; null if there is none.
inline ir::buffer read_of_others(const ir::block_node& b) {
  for (const ir::buffer_region& w : b.writes)
    for (const ir::buffer_region& r : b.reads)
      if (r.buffer == w.buffer && !same_box(w, r) && !reads_own_or_unwritten(b, w.buffer))
        return r.buffer;
  return {};
}

/// Whether what the block writes at an element follows from the place of the element as far as the
/// loop goes: all variables that it drives are indices.
inline bool elements_tell(const child_block& c, const ir::var& loop) {
  const ir::block_node& block = c.block();
  const rising_numbers rising(block);
  for (std::size_t i = 0; i < block.iters.size(); ++i)
    if (ir::uses_var(c.realize->values[i], loop) &&
        (block.iters[i].kind == ir::iter_kind::reduce ||
         !support::all(block.writes, [&](const ir::buffer_region& w) {
           return is_index(block.iters[i], w, rising);
         })))
      return false;
  return !ir::any_expr(block.body, [&](const ir::expr& e) { return e.same(loop); });
}

}  // namespace tilewright::dependence
