// add_atomically: threads of any block may add to a result at once.
#pragma once

#include <string>

#include <tilewright/impl/schedule/legality/scoped_block.hpp>
#include <tilewright/ir/analysis/atomic_update.hpp>
#include <tilewright/ir/storage_scope.hpp>
#include <tilewright/ir/term_order.hpp>

namespace tilewright::primitive {

/// Lets memory make the additions of a block, each in one step, so that loops of its reduction may be bound to
/// blocks of threads and to threads of a GPU.
/// ```
/// C[i] = C[i] + A[i, k]    ->    C[i] = C[i] + A[i, k]   (T.block_attr({"tilewright.atomic": 1}))
/// ```
/// Terms of floats then come in another order in every run, so that the last bits differ. What initializes the result
/// has to be a nest of its own, as decompose_reduction makes it. Without threads, nothing changes.
///
/// Requires:
/// 1. the block has no init, and its body is one store that adds to the element that it finds a value which does not
///    read that buffer;
/// 2. elements are of f16, f32, f64, or integers of 32 or 64 bits, in global memory;
/// 3. iteration variables of the block are spatial or reduce;
/// 4. the function does not keep the order of its terms, where the elements are floats.
/// @throws schedule_error
inline ir::function add_atomically(const ir::function& f, std::uint64_t block) {
  constexpr refusal refuse{"add_atomically"};
  const path at = need_block(f, block, "add_atomically");
  const ir::block_node& old = *ir::as_realize(at.target())->block;
  const ir::store_node* to = old.init ? nullptr : ir::only_addition(old.body);
  if (!to)
    refuse(1, {quoted(old), old.init ? " has an init; decompose_reduction comes first"
                                     : " is not one store that adds to an element"});
  const ir::buffer& result = to->buffer;
  if (!ir::has_atomic_addition(result->type) || ir::storage_rank(result->scope) != 0)
    refuse(2, {quoted(result), " has elements of ", std::string(name(result->type)), " in scope ",
               result->scope,
               "; memory adds f16, f32, f64 and integers of 32 and 64 bits in scope global"});
  for (const ir::iter_var& iter : old.iters)
    if (iter.kind != ir::iter_kind::spatial && iter.kind != ir::iter_kind::reduce)
      refuse(3, {"iteration variable \"", iter.var->name, "\" of ", quoted(old),
                 " is neither spatial nor reduce"});
  if (is_float(result->type) && ir::keeps_term_order(f))
    refuse(4, "the function keeps the order of its terms, and threads add in any");
  ir::block_node changed = old;
  changed.annotations[ir::atomic_note] = 1;
  return replace_block(f, at, ir::make_block(std::move(changed)));
}

}  // namespace tilewright::primitive
