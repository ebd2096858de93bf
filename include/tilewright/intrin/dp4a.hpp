// dp4a: one dot product of four 8-bit integers from shared memory into a thread's own.
#pragma once

#include <tilewright/intrin/intrinsic.hpp>

namespace tilewright::intrin {

/// C[1] (local) += A[4] . B[4] (shared), one call of `dot4`, as TVM describes them.
/// @{
intrinsic dp4a_s8s8s32();
intrinsic dp4a_u8s8s32();
intrinsic dp4a_s8u8s32();
intrinsic dp4a_u8u8u32();
/// @}

}  // namespace tilewright::intrin
