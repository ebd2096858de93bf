// compute_at and reverse_compute_at: move a block under a loop of its consumers or producers.
//
// The iteration domain that is needed at the new place is inferred from regions; see
// schedule/infer_domain.hpp. Halide calls the first one compute_at too; the second has no
// counterpart there.
#pragma once

#include <cstdint>

#include <tilewright/ir/stmt.hpp>

namespace tilewright::primitive {

/// Moves a producer under a loop of its consumers, computing per iteration what they need of it.
///
/// ```
/// for i, j in grid(128, 128):                      for i_0, i_1 in grid(22, 6):
///     with block("B"): B[vi, vj] = A[vi, vj] * 2       for ax0, ax1 in grid(6, 128):
/// for i_0, i_1, j in grid(22, 6, 128):       ->            with block("B"):
///     with block("C"):                                         vi, vj = (i_0 * 6 + ax0, ax1)
///         where(i_0 * 6 + i_1 < 128)                           where(i_0 * 6 + ax0 < 128)
///         C[vi, vj] = B[vi, vj] + 1                    for j in range(128): ...
///                                                  (compute_at(B, i_0); above: i_1 stays inside)
/// ```
/// New loops are `ax0, ax1, ...` in the order of the iteration variables and have constant extents
/// where the needed part has; what lies outside of the block's domain is guarded unless it provably
/// cannot occur. Loops of extent 1 are dropped unless `preserve_unit_loops`. The init of a
/// reduction moves along; so does what the old predicate said beyond the domain. Loops left empty
/// disappear.
///
/// @param index -1: the last legal place below the loop, -2: the first, n: before the n-th
/// statement there
///
/// Requires:
/// 1. the block's surroundings are a pipeline: nothing but loops, sequences and blocks in
///    the scope; what the block reads is not written after it, and is final where the block
///    reads it; nobody reads the block's result before it, or, in a common loop, before it
///    is final; where earlier blocks rewrite what the block reads in a loop around both, its
///    results are read below that loop, in the iteration that makes them; where the loops or
///    blocks around the block decide which of its instances run, what is needed says so too;
/// 2. the block is complete or a reduction, and depends on loops by its
///    iteration variables alone; the block runs over a box: no bound of its
///    loops, no domain and no value of a variable follows other loops or data;
/// 3. the loop is in the same scope and does not contain the block;
/// 4. the block writes no output of the scope;
/// 5. the block has consumers, and all of them are below the loop;
/// 6. there is a place below the loop after its producers and before its consumers, and `index` is
///    one; bounds and conditions around that place do not load what the block writes;
/// 7. the needed part of the block's domain is not empty (reverse: and is all of it over all
///    iterations, and none of the loops that the block goes below may be empty, as far as constants,
///    other loops and data say);
/// 8. what the block reads at the new place is written before, in the same
///    iteration, and so is what says which instances are needed there.
/// @throws schedule_error; nothing is changed then
ir::function compute_at(const ir::function& f, std::uint64_t block, const ir::var& loop,
                        bool preserve_unit_loops = false, int index = -1);

/// Moves a consumer under a loop of its producers, so that it consumes what an iteration has
/// produced.
///
/// ```
/// for i_0, j_0, k, i_1, j_1 in grid(8, 8, 64, 16, 16):
///     with block("C"): C_local[vi, vj] += ...
/// for ax0, ax1 in grid(128, 128):
///     with block("C_local"): C[v0, v1] = C_local[v0, v1]
/// ->  (reverse_compute_at(C_local, j_0))
/// for i_0, j_0 in grid(8, 8):
///     for k, i_1, j_1 in grid(64, 16, 16):
///         with block("C"): C_local[vi, vj] += ...
///     for ax0, ax1 in grid(16, 16):
///         with block("C_local"):
///             v0, v1 = (i_0 * 16 + ax0, j_0 * 16 + ax1)
///             C[v0, v1] = C_local[v0, v1]
/// ```
/// Loops, guards, init and `index` are as for compute_at.
///
/// Requires: 1 to 3 and 6 to 8 as compute_at, and
/// 4. moved, a reduction still runs each of its instances once, and not in iterations that run at
/// once;
/// 5. all producers of the block are below the loop, and where one of them is still reducing there, or
/// overwrites its results in other iterations, the block is complete and its last run decides: the
/// loops are serial, and no value it reads becomes an index or an integer divisor, or decides
/// whether it stores; no producer overwrites its results in a loop that it and the block are below already.
///
/// A block without producers runs as a whole in every iteration: the loops around are serial, those
/// around its scope too where they decide which instances run, no extent of theirs is loaded, and
/// its consumers come after.
/// @throws schedule_error; nothing is changed then
ir::function reverse_compute_at(const ir::function& f, std::uint64_t block, const ir::var& loop,
                                bool preserve_unit_loops = false, int index = -1);

/// Whether the call would succeed; never throws a schedule_error. Asked of several loops at once,
/// what is about the block alone is looked at once.
bool can_compute_at(const ir::function& f, std::uint64_t block, const ir::var& loop,
                    bool preserve_unit_loops = false);
std::vector<bool> can_compute_at(const ir::function& f, std::uint64_t block,
                                 const std::vector<ir::var>& loops,
                                 bool preserve_unit_loops = false);  // [loops]
bool can_reverse_compute_at(const ir::function& f, std::uint64_t block, const ir::var& loop,
                            bool preserve_unit_loops = false);

}  // namespace tilewright::primitive
