// compute_inline and reverse_compute_inline: fold a block into its consumers or its producer.
#pragma once

#include <cstdint>

#include <tilewright/ir/stmt.hpp>

namespace tilewright::primitive {

/// Replaces every load of a block's result by the expression that computes it; block and buffer go.
///
/// ```
/// with block("B"): B[vi, vj] = A[vi, vj] * 2
/// with block("C"): C[vi, vj] = B[vj, vi] + 1
/// ->
/// with block("C"): C[vi, vj] = A[vj, vi] * 2 + 1
/// ```
/// A block without consumers is removed. The regions of the consumers are computed anew.
///
/// Requires:
/// 1. what the block reads is not written after it and is final where the consumers stand (all of the
///    buffer where their guards or iteration variables would load it); nobody reads the block's result
///    before it (numbered reasons as for compute_at, requirement 1); where earlier blocks rewrite what
///    the block reads in a loop around both, its results are read below that loop, in the iteration
///    that makes them; what the block reads of memory of threads is read by these threads;
/// 2. the block is complete and has no init;
/// 3. the block writes one buffer, which its scope allocates and no other block writes;
/// 4. the block's body is one store, from whose indices the iteration variables
///    follow: the indices are the variables, or an invertible affine function
///    of them; the block depends on loops and lets by its variables alone;
/// 5. the block is not the only one of its scope;
/// 6. the buffer is only loaded, and by blocks, their guards and the values of their iteration
///    variables: no match_buffer of it, no pointer to it, no loop or condition around blocks that
///    loads it.
/// @throws schedule_error; nothing is changed then
ir::function compute_inline(const ir::function& f, std::uint64_t block);

/// Lets the producer of a block's input store what the block computes from it; the block goes.
///
/// ```
/// with block("B"): B[vi, vj] = A[vi, vj] * 2
/// with block("C"): C[vi, vj] = B[vi, vj] + 1
/// ->
/// with block("B"): C[vi, vj] = A[vi, vj] * 2 + 1
/// ```
/// Where the producer computes more points than the block consumes it gets a guard. A reduction
/// cannot take the block in: use cache_write or write_at first and inline into the copy.
///
/// Requires:
/// 1. what the block reads is not written after it, and nobody uses its output before it;
/// 2. the block is complete, has no init, and its body is one store, which depends on loops and lets
///    by its variables alone;
/// 3. exactly one of the buffers that it reads is written in the scope, by one block, its producer,
///    which is complete, has a body of one store, alone or in a nest of serial loops of which each
///    moves the store along a dimension of its own, and writes a buffer that the scope allocates
///    and that nobody else reads;
/// 4. the predicate of the block says no more than its domain, all of which its loops visit;
/// 5. all loads of that buffer use the same indices, an invertible affine function of all of the
///    block's iteration variables that are longer than 1;
/// 6. the producer has computed all that the block reads; where further iterations overwrite that, no
///    value becomes an index or an integer divisor.
/// @throws schedule_error; nothing is changed then
ir::function reverse_compute_inline(const ir::function& f, std::uint64_t block);

/// Whether the call would succeed; never throws a schedule_error.
bool can_compute_inline(const ir::function& f, std::uint64_t block);
bool can_reverse_compute_inline(const ir::function& f, std::uint64_t block);

}  // namespace tilewright::primitive
