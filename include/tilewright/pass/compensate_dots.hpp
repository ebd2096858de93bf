// Moves signed factors of dot products by 128 where the instruction takes unsigned ones, and
// computes what that adds once for a column instead of once for every vector.
//
//   for k, r, c, v in grid(128, 12, 2, 16):          for c, k, v in grid(2, 128, 16):
//     C[r, c*16 + v] = dot4(C[r, c*16 + v],            D[c, v] = dot4(D[c, v], 128 .. 128, B[k, c, v, 0:4])
//       A[r, k*4 + 0:4], B[k, c, v, 0:4])      ->    for k, r, c, v in grid(128, 12, 2, 16):
//                                                      C[..] = dot4(C[..], u8(A[..]) + 128, B[..])
//                                                    for r, c, v in grid(12, 2, 16):
//                                                      C[..] = C[..] - D[c, v]
//
// (a + 128) b - 128 b is a b, sum by sum. Where the loop before sets the sums to 0, it sets them to -D
// instead. D depends on one factor alone, so that of a bound weight it is prepared with it.
#pragma once

#include <tilewright/ir/stmt.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::pass {

/// Works on the loops of lower_blocks, before prepare_weights, for CPUs that have vpdpbusd. A dot
/// product of signed bytes changes when
/// 1. it is the only access of its sums in the outermost loop that does not move them, of those that
///    stand in their allocation;
/// 2. its second factor is a parameter or was computed before all loops around;
/// 3. the loops that move the second factor have literal extents and follow from no others, and
///    conditions around it concern either those loops or the others;
/// 4. the other loops, to which one vector of D serves, have at least four iterations.
ir::function compensate_dots(const ir::function& f, const target::cpu& target);

}  // namespace tilewright::pass
