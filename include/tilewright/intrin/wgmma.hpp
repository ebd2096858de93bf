// Matrix products of a warp group of sm_90a: 64 x N x 16 on tensor cores, with operands in shared memory.
#pragma once

#include <tilewright/intrin/intrinsic.hpp>

namespace tilewright::intrin {

/// C[64, columns] (wgmma.accumulator) += A[64, 16] (shared.dyn) B[16, columns] (shared.dyn), operands of type `in`, f16 or
/// bf16, with sums in f32: "wgmma_64x128x16_f16f16f32". `b_trans`: B is [columns, steps], "..._trans". The operands belong
/// to a group of four warps, of 128 threads; the implementation is what the whole group computes. Named after the
/// instruction, since TVM has none of these.
intrinsic wgmma(dtype in, int columns, bool b_trans);

}  // namespace tilewright::intrin
