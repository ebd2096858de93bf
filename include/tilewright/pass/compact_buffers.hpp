// Shrinks allocated buffers to what is touched while they live.
//
//   for k0 in range(8):                              for k0 in range(8):
//     allocate P[128, 512]                    ->       allocate P[16, 32]
//     for a, b in grid(16, 32):                        for a, b in grid(16, 32):
//       P[k0*16 + a, j0*32 + b] = B[...]                 P[a, b] = B[...]
//
// Indices count from the first element touched, as a function of the loops around the allocation
// that do not share the buffer, as threads share what is allocated among them. Extents are constants: a tile that does not divide keeps its full extent at the edge. Long rows
// start at multiples of 64 bytes where that costs at most an eighth, and do not lie a multiple of
// 4096 bytes apart; a buffer for which a block asks for strides (`storage_align`) gets those instead.
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::pass {

/// Works on a function without blocks.
ir::function compact_buffers(const ir::function& f);

}  // namespace tilewright::pass
