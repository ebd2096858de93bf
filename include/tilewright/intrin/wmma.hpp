// Matrix products of a warp, as TVM names them: 16 x 16 x 16 on tensor cores.
#pragma once

#include <tilewright/intrin/intrinsic.hpp>

namespace tilewright::intrin {

/// C[16, 16] (wmma.accumulator) += A[16, 16] (wmma.matrix_a) B[16, 16] (wmma.matrix_b), operands of
/// type `in` with sums in `sum`: "wmma_sync_16x16x16_f16f16f32". `b_trans`: B is [columns, steps],
/// "..._trans". Of f32, tensor cores take the first 11 bits of each factor, so that such a schedule gives other
/// results than the program beyond the rounding of sums: "wmma_sync_16x16x16_tf32tf32f32", which no
/// space takes unasked. `steps`: the extent of the reduction, 16, or 32 of bytes ("wmma_sync_16x16x32_s8s8s32",
/// which is none of TVM's). The operands belong to a warp; every implementation is what the whole warp computes.
intrinsic wmma_sync(dtype in, dtype sum, bool b_trans, int steps = 16);
/// C[16, 16] (wmma.accumulator) = 0: "wmma_fill_16x16x16_f32".
intrinsic wmma_fill(dtype sum);
/// A fragment from memory of the block: "wmma_load_16x16x16_f16_a_shared_dyn". `operand`: "a", "b",
/// or "b_trans".
intrinsic wmma_load(dtype in, const char* operand, const char* scope);
/// Sums to memory: "wmma_store_16x16x16_f32_global".
intrinsic wmma_store(dtype sum, const char* scope);

}  // namespace tilewright::intrin
