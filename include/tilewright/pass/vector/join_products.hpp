// Makes dot products of sums of products of bytes, which are one instruction for four of them.
//
//   for s in range(3):                                  for q in vectorized(16):
//     for q in vectorized(16):                            C[q] = dot4(C[q], X[q * 3], X[q * 3 + 1], X[q * 3 + 2],
//       C[q] = C[q] + X[q * 3 + s] * F[s]           ->                      X[q * 3 + 2], F[0], F[1], F[2], 0)
//
// The taps of a window along a row lie near each other, as channels in blocks of four do. Without the
// change each of them is widened and multiplied apart.
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::target {
struct cpu;
}

namespace tilewright::pass {

/// Works on the loops of lower_blocks, before order_dimensions, for CPUs with vectors of bytes. The
/// iterations of a loop become dot products of four, and a product where one is left, when
/// 1. it is serial or unrolled and has two to eight iterations from a literal on;
/// 2. it holds nothing but loops, conditions without `else` and one store, which adds a product of two
///    bytes, not both unsigned, to a sum in 32 bits; neither the sum, nor loops and conditions, move with it,
///    and nothing else reads the sum;
/// 3. along the innermost vectorized loop, one factor stays and lies side by side along the loop that is
///    joined, and the other one takes one to four steps along each of the two;
/// 4. a factor that is 0 outside of a condition is loaded under a mask of bytes, which needs AVX-512.
ir::function join_products(const ir::function& f, const target::cpu& target);

}  // namespace tilewright::pass
