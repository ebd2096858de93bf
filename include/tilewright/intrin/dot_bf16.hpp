// Dot products of two bf16 numbers, accumulated in f32.
#pragma once

#include <tilewright/intrin/intrinsic.hpp>

namespace tilewright::intrin {

/// C[16] (f32) += A[2] . B[16, 2] (bf16), each lane one call of `dot2`: vdpbf16ps where the CPU has
/// it, else two multiplications and additions. The second product is added first. vdpbf16ps takes
/// denormal numbers as 0.
intrinsic dot_16x2_bf16();

}  // namespace tilewright::intrin
