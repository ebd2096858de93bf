// pad_einsum: the iteration domain of a contraction grows to multiples of given sizes.
#pragma once

#include <cstdint>
#include <vector>

#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive {

/// Rounds the extents of a block's iteration variables up to multiples, so that tiles of these
/// sizes divide: operands are copied into padded buffers before, the result out of one behind.
///
/// ```
/// for i, j, k in grid(127, 33, 60):             for i0, i1 in grid(128, 60):
///     with block("C"):                              with block("A_pad"):
///         C[vi, vj] += A[vi, vk] * B[vk, vj]            A_pad[v0, v1] = if_then_else(v0 < 127,
///                                                           A[v0, v1], 0)
///                                               for i, j, k in grid(128, 33, 60):
///                                         ->        with block("C"):
///                                                       C_pad[vi, vj] += A_pad[vi, vk] * B[vk, vj]
///                                               for i0, i1 in grid(127, 33):
///                                                   with block("C_pad"): C[v0, v1] = C_pad[v0, v1]
///                                               (padding [32, 1, 1])
/// ```
/// Loops that alone drive a variable grow with it; where others do, the padding stays unvisited.
/// Operands are padded with what leaves the reduction as it is: 0 for products in a sum, the
/// identity for a plain maximum or minimum.
///
/// Requires:
/// 1. there is one positive multiple per iteration variable;
/// 2. the block is complete or a reduction with one store, each buffer accessed at one place, with indices that
///    are different iteration variables, or inside of the buffer and constant or computed from what is not padded;
/// 3. padded dimensions of buffers are as long as the variable's domain, which starts at 0 and may
///    be symbolic;
/// 4. the block is the only one in its nest, which stands in the root scope directly, and visits
///    all of its domain, a symbolic one by a loop that drives its variable alone, and loads no value
///    of a variable; a padded result is written as a whole; padded loops of the reduction run one
///    iteration after the other, and what is padded does not belong to threads of the loops;
/// 5. padded reduction steps leave the result as it is with some value of the padding, and all of an
///    operand that is copied has been written.
/// @param padding [iteration variables] the multiples, not the amounts added
/// @throws schedule_error; nothing is changed then
ir::function pad_einsum(const ir::function& f, std::uint64_t block,
                        const std::vector<std::int64_t>& padding);

}  // namespace tilewright::primitive
