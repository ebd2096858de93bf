// Whether the iterations of a loop may run in any order, or at once.
#pragma once

#include <string>

#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/ir/analysis/private_buffers.hpp>

namespace tilewright::primitive {

/// Refuses a loop whose blocks are neither complete nor reductions within it, or read what other iterations write.
/// What a primitive asks of the iterators that the loop drives is its own question: `iter_kind_of`.
/// @param requirement the number of "the dataflow below the loop is compact"
/// @param atomics whether sums that add atomically may meet
/// @throws schedule_error
inline void check_any_order(const block_scope& scope, const ir::var& loop, ir::private_buffers& own,
                            const refusal& refuse, int requirement, bool atomics = false) {
  const std::string name = "loop \"" + loop->name + "\"";
  if (const int block = compact_dataflow_violation(scope, loop, own, atomics); block >= 0)
    refuse(requirement, {quoted(scope[block].block()), " below ", name,
                         " is neither complete nor a reduction within the loop"});
  if (const int block = carried_dependence(scope, loop); block >= 0)
    refuse(requirement, {quoted(scope[block].block()), " reads what a block below ", name,
                         " writes in another iteration"});
}

}  // namespace tilewright::primitive
