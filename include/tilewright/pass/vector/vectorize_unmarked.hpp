// Gives vectors to loops of which nobody has said what they are to be.
//
//   for i, j, k in grid(128, 128, 128):        for i, j0 in grid(128, 2):
//     C[i, j] += A[i, k] * B[k, j]       ->      for j1 in vectorized(64):
//                                                  for k in range(128): C[i, j0*64 + j1] += ...
//
// A schedule that vectorizes a loop around a block has decided about it; a block of which no loop is
// vectorized, as it was written by hand or made elsewhere, is not meant to run in scalars, whatever
// was said of other blocks. Nor is one meant to run in parts of vectors whose lanes were marked for a
// machine of shorter ones: these get more lanes out of loops around them that step over theirs.
#pragma once

#include <string>
#include <vector>

#include <tilewright/ir/stmt.hpp>

namespace tilewright::target {
struct cpu;
}

namespace tilewright::pass {

/// Works on a function with blocks. Loops become lanes when
/// 1. nothing but one block stands inside of them, which does nothing but store one element, and no
///    loop around the block is bound to threads or vectorized, save the innermost one, when it has
///    fewer iterations than a vector has lanes: then lanes are those and more;
/// 2. they are serial, start at 0, and have literal extents of at least 16 bytes together. They are one
///    loop, or, where that is shorter than a vector, one and loops outside of it each of whose
///    iterations goes as far as those of the loops before do together: j_0 and j_1 in j_0 * 4 + j_1;
/// 3. they occur in the values of spatial iteration variables alone, along which the element stored
///    moves by one, and every element loaded by 0 to 4; other elements of what is stored are not
///    loaded.
/// Of several, the innermost ones that fill a vector, else the most. What they leave beyond whole vectors
/// gets a guard.
ir::function vectorize_unmarked(const ir::function& f, const target::cpu& target);

/// A sentence about each block that runs often and that no loop of a scheduled function vectorizes,
/// after the pass: "block Y is not vectorized: X is read every 7 elements along loop q". Reductions
/// whose operands lie side by side are left out: they get vectors when they are lowered.
std::vector<std::string> scalar_blocks(const ir::function& f, const target::cpu& target);

}  // namespace tilewright::pass
