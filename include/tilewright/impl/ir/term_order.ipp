#pragma once

#include <tilewright/ir/alternatives.hpp>
#include <tilewright/ir/term_order.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::ir {

TILEWRIGHT_INLINE function with_term_order(const function& f) {
  return map_alternatives(f, [](const function& each) {
    function out = each;
    out.attrs[reductions_attribute] = in_order_value;
    return out;
  });
}

TILEWRIGHT_INLINE bool reduces_floats(const block_node& b) {
  const bool reduces = support::any(b.iters, [](const iter_var& i) {
    return i.kind == iter_kind::reduce && !is_int(i.dom.extent, 1);
  });
  return reduces &&
         support::any(b.writes, [](const buffer_region& w) { return is_float(w.buffer->type); });
}

TILEWRIGHT_INLINE bool reduces_floats(const function& f) {
  return any_stmt(f.body, [](const stmt& s) {
    const block_realize_node* realize = as_realize(s);
    return realize && reduces_floats(*realize->block);
  });
}

TILEWRIGHT_INLINE bool has_narrow_results(const function& f) {
  const auto is_narrow = [](const buffer& b) { return is_float(b->type) && bits(b->type) < 32; };
  return any_stmt(f.body, [&](const stmt& s) {
    const block_realize_node* realize = as_realize(s);
    return realize && support::any(realize->block->alloc_buffers, is_narrow);
  });
}

}  // namespace tilewright::ir
