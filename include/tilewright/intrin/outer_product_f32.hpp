// outer_product_f32: one step of a register-tiled matrix product.
#pragma once

#include <tilewright/intrin/intrinsic.hpp>

namespace tilewright::intrin {

/// C[rows, columns] += A[rows, 1] * B[1, columns] in f32, named
/// "outer_product_<rows>x<columns>_f32": rows unrolled, columns vectorized. Below a loop over the
/// reduction the tile of C stays in registers.
intrinsic outer_product_f32(int rows, int columns);

/// 6 x 16: twelve accumulators of 8 lanes, for 16 registers of 256 bits.
intrinsic outer_product_6x16_f32();
/// 14 x 32: 28 accumulators of 16 lanes, for 32 registers of 512 bits.
intrinsic outer_product_14x32_f32();

}  // namespace tilewright::intrin
