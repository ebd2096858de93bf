// blockize: a part of a nest becomes the body of a block of its own.
#pragma once

#include <cstdint>
#include <vector>

#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive {

/// Puts everything from `loop` inwards into a new block `<name>_o` around the one block there.
///
/// ```
/// for i0, j0, i1, j1 in grid(8, 8, 16, 16):
///     with block("B"):
///         vi, vj = (i0 * 16 + i1, j0 * 16 + j1)
///         B[vi, vj] = A[vi, vj] * 2
/// ->
/// for i0, j0 in grid(8, 8):
///     with block("B_o"):
///         vi_o, vj_o = axis.remap("SS", [i0, j0])
///         reads(A[vi_o * 16 : vi_o * 16 + 16, vj_o * 16 : vj_o * 16 + 16])
///         writes(B[vi_o * 16 : vi_o * 16 + 16, vj_o * 16 : vj_o * 16 + 16])
///         for i1, j1 in grid(16, 16):
///             with block("B"):
///                 vi_i, vj_i = axis.remap("SS", [i1, j1])
///                 B[vi_o * 16 + vi_i, vj_o * 16 + vj_i] = A[vi_o * 16 + vi_i, vj_o * 16 + vj_i] * 2
/// ```
/// An init moves to the new block, with a nest `<name>_init` of its own; the inner block then reads
/// what it writes. Without `preserve_unit_iters`, loops and variables of extent 1 are replaced by
/// 0.
///
/// Requires:
/// 1. the loop holds one block, with nothing but loops in between;
/// 2. each binding is an outer digit times the extent of an inner one plus this one, and each
///    conjunct of the guard is about loops of one part, those of one iteration aside; a new block
///    with variables sees the loops and lets around it through them alone; nothing inside writes
///    what the outer part is loaded from;
/// 3. bounds of the inner loops and domains use outer loops only where these are outer variables
///    themselves, and no values of lets; no domain follows a loop that goes inside, and loops of one
///    iteration start at 0;
/// 4. where the block has an init, the inner loops run each instance once, those of the reduction one
///    after the other, and no conjunct of the guard mixes inner loops that the init keeps with loops
///    that it drops; loops that the init keeps follow none that it drops, the latter have an
///    iteration, and no domain of the init follows the reduction; the init uses no buffer that the
///    block allocates or matches; no instance loads or writes what others write, or reduces backwards.
/// @returns the new block; the id of the old one stays with the inner block
/// @throws schedule_error; nothing is changed then
new_block blockize(const ir::function& f, const ir::var& loop, bool preserve_unit_iters = true);

/// Puts consecutive nests, each around one of the blocks, into a new block `outer_<a>_<b>_`.
///
/// ```
/// for m in range(6):                               for m in range(6):
///     for i in range(3):                               with block("outer_B_C_"):
///         with block("B"): ...              ->             vi_o = axis.spatial(1, 0)
///     for i in range(128):                                 for i in range(3):
///         with block("C"): ...                                 with block("B"): ...
///                                                          for i in range(128):
///                                                              with block("C"): ...
/// ```
/// Requires, besides 2 and 3 for each block:
/// 5. at least two different blocks are given, whose nests stand next to
///    each other in one sequence, each a chain of loops around its block;
/// 6. no block has an init;
/// 7. the blocks have no more variables than the first one in the list, and outer variables in the
///    same place have the same values and extents, and unless the extent is 1 the same kind.
///
/// The nests keep their order, whatever the order of the list.
/// @returns the new block
/// @throws schedule_error; nothing is changed then
new_block blockize(const ir::function& f, const std::vector<std::uint64_t>& blocks,
                   bool preserve_unit_iters = true);

}  // namespace tilewright::primitive
