// Schedules of functions that keep the order of their terms (ir/term_order.hpp): what they may do.
//
// Splits, tiles of results, copies, vectors and threads along results are all there. What a reduction adds up
// stays in one chain: loops of a reduction keep their order among each other, and nothing is added up in parts.
#pragma once

#include <tilewright/ir/stmt.hpp>
#include <tilewright/schedule/schedule.hpp>

namespace tilewright {

/// Says whether what the schedule has made of `written`, which asks for the order of its terms, computes each
/// element by the same operations in the same order. It refuses what it cannot tell. Nothing is asked of a
/// function that does not ask for its order.
///
/// Requires:
/// 1. no primitive was applied after which terms may come otherwise: rfactor, pad_einsum,
///    fuse_reduction_epilogue, tensorize, blockize, merge, loop_partition, cache_inplace, those of sparse
///    iterations, and those that change types or hide accesses; transform_block_layout of a reduction takes
///    its variables in their order, whole or as quotients and remainders;
/// 2. of several algorithms it is the function's own, in another form only where no floats are reduced;
/// 3. no block is inlined where results between blocks are of floats narrower than float32;
/// 4. the loops around each reduction of floats bring its terms as in `written`, one at a time.
/// @throws schedule_error of "term_order" with the number of the requirement
void check_term_order(const schedule& s, const ir::function& written);

}  // namespace tilewright
