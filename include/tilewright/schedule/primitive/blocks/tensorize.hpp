// tensorize: a block's body becomes the implementation of a tensor intrinsic.
#pragma once

#include <cstdint>
#include <string>

#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive {

/// Makes a block of everything from `loop` inwards (blockize) and replaces its body by the
/// implementation of an intrinsic whose description it matches.
///
/// ```
/// for i in range(128):                         for i in range(128):
///     for j, k in grid(16, 4):                     with block("C_o"):
///         with block("C"):                             vi_o, vj_o, vk_o = ...
///             ...                       ->             a = match_buffer(A[vi_o, 0:4], (4,))
///             C[vi, vj] = C[vi, vj] +                  b = match_buffer(B[0:16, 0:4], (16, 4))
///                 cast(A[vi, vk]) *                    c = match_buffer(C[vi_o, 0:16], (16,))
///                 cast(B[vj, vk])                      for j in vectorized(16):
///                                                          c[j] = dot4(c[j], a[0], .., b[j, 3])
/// ```
/// The parameters of the implementation become views of the regions that the block touches; its
/// variables and blocks are renewed, its index types follow the program, and its annotations join
/// those of the block, where the block's own stay. An init stays an init. What matches says
/// schedule/match_tensor.hpp.
///
/// Requires:
/// 1. `tensor_intrin` is the name of a known intrinsic;
/// 2. a loop, where one is given, meets the requirements of blockize;
/// 3. the block matches the description node by node: regions in order, loops, kinds, annotations,
///    expressions without commuting anything; the refusal names the first difference;
/// 4. the block has no buffers of its own;
/// 5. no region of the block reaches out of its buffer, as one may whose elements are read under a guard;
/// 6. what the block writes is one operand of the intrinsic alone.
/// @throws schedule_error; nothing is changed then
ir::function tensorize(const ir::function& f, const ir::var& loop, const std::string& tensor_intrin,
                       bool preserve_unit_iters = true);
/// The same for a block that stands already.
ir::function tensorize(const ir::function& f, std::uint64_t block,
                       const std::string& tensor_intrin);

}  // namespace tilewright::primitive
