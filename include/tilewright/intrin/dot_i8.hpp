// Dot products of four 8-bit integers: N results from one group of four and N packed groups.
#pragma once

#include <tilewright/intrin/intrinsic.hpp>

namespace tilewright::intrin {

/// C[columns] (32 bits) += A[4] . B[columns, 4], each lane one call of `dot4` (the calls of
/// implementations: docs/intrinsics.md). Where the CPU has VNNI and A is unsigned or both are
/// signed, a call is vpdpbusd; elsewhere with SSE2 and its successors two pmaddwd, which add exact
/// products of 16 bits in 32; else shifts, multiplications and additions.
intrinsic dot_i8(std::string name, int columns, dtype a, dtype b, dtype c);

/// @name As TVM describes them, so that its traces apply
/// @{
intrinsic dot_16x4_vnni();    // u8 x i8 -> i32, 16 columns
intrinsic dot_16x4_avx512();  // the same
intrinsic dot_4x4_i8i8s32_neon();
intrinsic dot_4x4_i8i8s32_sdot();
intrinsic dot_4x4_u8u8u32_udot();
intrinsic dot_4x4_u8u8i32_hdot();
intrinsic dot_32x4_u8u8i32_vrmpy();
/// @}

/// u8 x i8 -> i32 for vectors of 256 and 128 bits.
intrinsic dot_8x4_vnni();
intrinsic dot_4x4_vnni();
/// The same with pairs of products where there is no VNNI, vectors of 256 bits.
intrinsic dot_8x4_avx2();
/// i8 x i8 -> i32 for vectors of 512 and 256 bits.
intrinsic dot_16x4_i8i8i32();
intrinsic dot_8x4_i8i8i32();

}  // namespace tilewright::intrin
