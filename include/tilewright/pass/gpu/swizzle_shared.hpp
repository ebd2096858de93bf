// Rows of shared memory that a warp loads as matrices, without bank conflicts.
//
//   tw_load_matrix(.., S[r, c] ..)   ->   tw_load_matrix(.., S[r, (c / 8 xor r / 2 % 4) * 8 + c % 8] ..)
//
// A load of matrices takes 16 bytes of each of eight rows at once, which lie in the same banks when rows
// are powers of two long. In a buffer that is loaded so, the pieces of 16 bytes of a row change places by the
// number of the row: rows of 128 bytes and multiples of them by eight patterns, of 64 bytes by four, of 32
// bytes by two (CuTe's Swizzle<3, 4, 3> and its smaller ones). Bytes that are loaded transposed come from rows
// 0, 1, 4, 5, 8, 9, 12 and 13 at once, whose patterns differ; elements of 4 bytes that a warp reads in columns, scope
// "shared.columns" (pass/gpu/spread_fragments.hpp), from eight places of each of four rows. Buffers with strides of their own, as
// `storage_align` gives them, have another remedy and stay. What a warp group multiplies has the pattern of 128 bytes that its
// descriptors name: longer rows lie in panels of 128 bytes, one behind the other.
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::pass {

/// A buffer of scope "shared.swizzled" is treated so whatever touches it: a schedule says it with `set_scope`, or where it
/// makes the copy.
///
/// Works on kernels with barriers: what is known about indices is needed before, and lost here.
/// @throws build_error for a buffer of that scope whose rows have no pattern
ir::function swizzle_shared(const ir::function& f);

}  // namespace tilewright::pass
