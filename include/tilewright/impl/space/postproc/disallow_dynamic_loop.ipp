#pragma once

#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/sparse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/space/postproc/disallow_dynamic_loop.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::space {
namespace detail {

/// Rows are told apart by where they are written: each result has a dimension that a variable of the block moves
/// along, or rows have numbers that rise. Rows of a result on a pattern begin where offsets say, so that threads
/// might meet there. Nothing that adds up runs on several threads.
inline bool writes_by_rows(const ir::block_node& b) {
  const auto moves = [&](const ir::expr& e) {
    return !ir::reads_memory(e) &&
           support::any(b.iters, [&](const ir::iter_var& v) { return ir::uses_var(e, v.var); });
  };
  const bool apart =
      support::any(b.iters, [](const ir::iter_var& v) { return v.kind == ir::iter_kind::spatial; });
  return !apart || b.annotations.count(ir::rising_annotation) > 0 ||
         support::all(b.writes, [&](const ir::buffer_region& r) {
           return support::any(r.box, [&](const ir::range& along) { return moves(along.min); });
         });
}

/// The loops of a block that run over data, up to the blocks in it.
inline bool walks_data(const ir::stmt& body) {
  return ir::any_stmt(body, [](const ir::stmt& s) {
    return ir::as_loop(s) && ir::reads_memory(ir::as_loop(s)->extent);
  });
}

}  // namespace detail

TILEWRIGHT_INLINE void disallow_dynamic_loop::operator()(schedule& s, const context&) const {
  const primitive::refusal refuse{"disallow_dynamic_loop"};
  ir::for_each_stmt(s.function().body, [&](const ir::stmt& at) {
    const ir::block_realize_node* realize = ir::as_realize(at);
    if (walks && realize && detail::walks_data(realize->block->body) &&
        !detail::writes_by_rows(*realize->block))
      refuse(1, {"block ", realize->block->name,
                 " walks rows of data, and writes where these say; threads are not told apart"});
    const ir::loop_node* loop = ir::as_loop(at);
    if (!loop || (ir::is_int(loop->min) && ir::is_int(loop->extent))) return;
    const bool walk = loop->loop == ir::loop_kind::serial && ir::is_int(loop->min) &&
                      ir::reads_memory(loop->extent);
    if (!(walks && walk))
      refuse(1, {"loop ", loop->var->name, " has the extent ", ir::print(loop->extent),
                 "; tune the kernel for literal extents"});
  });
}

}  // namespace tilewright::space
