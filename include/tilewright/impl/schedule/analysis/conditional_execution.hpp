// Whether a loop or a scope may leave out a block below it, or repeat it, in other ways than by loops
// and the block's guard.
#pragma once

#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/ir/analysis/declared.hpp>
#include <tilewright/schedule/path.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive::detail {

/// Whether an if, a while or a let stands strictly between the loop, one of `at.loops()`, and the
/// target.
inline bool conditional_below(const path& at, const ir::loop_node& loop) {
  for (std::size_t i = at.slots.size() - 1; i-- > 0 && ir::as_loop(*at.slots[i]) != &loop;)
    if (ir::as_if(*at.slots[i]) || ir::as_while(*at.slots[i]) || ir::as_let(*at.slots[i]))
      return true;
  return false;
}

/// Whether a while in the scope repeats the block, which may find something else each time: a block
/// of the scope writes what it reads, or what is loaded around it.
inline bool changes_in_while(const path& at, const block_scope& scope, std::size_t child) {
  bool repeats = false;
  for (std::size_t i = at.slots.size() - 1; i-- > 0 && !ir::as_realize(*at.slots[i]);)
    repeats = repeats || ir::as_while(*at.slots[i]);
  const auto reads = [&](const ir::buffer_region& w) {
    return ir::reads_buffer(scope[child].block(), w.buffer);
  };
  return repeats && support::any(scope.children(), [&](const child_block& c) {
           return support::any(c.block().writes, reads);
         });
}

}  // namespace tilewright::primitive::detail
