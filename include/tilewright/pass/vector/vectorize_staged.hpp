// Gives vectors to sums over elements that lie side by side only where they are staged.
//
//   allocate S[109], P[7, 229]                 allocate S[109], P[7, 229]
//   for w in range(109):                       for r, q in grid(7, 7):
//     for r, q in grid(7, 7):           ->       for w in vectorized(109):
//       S[w] += P[r, 2 * w + q] * F[r, q]          S[w] += P[r, 2 * w + q] * F[r, q]
//
// A schedule that computes one channel at a time of an image whose channels lie side by side leaves no loop
// along which vectors could be loaded or stored, as long as buffers have the shapes that they were declared
// with. Once each is as small as it can be, the neighbours of an element are those of its row. Where another
// dimension of a staged buffer is the last one, `order_dimensions`, which follows, changes that.
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::target {
struct cpu;
}

namespace tilewright::pass {

/// Works on loops without blocks, behind compact_buffers. The iterations of a loop become lanes, which
/// sink_vectors moves inside, when
/// 1. it is serial, has literal bounds with 16 bytes of what is stored at least, and is no reduction; nothing
///    but loops with literal bounds, none of them vectorized or parallel, and conditions that load nothing
///    stand around the stores inside of it, a reduction among the loops;
/// 2. all stores are to one element, in whose index the loop moves one dimension by one, and no loop inside
///    moves that dimension; nothing else of that buffer is loaded. The buffer is one that the function
///    allocates, or the dimension its last one, or nothing but 16 terms or more stand inside of the loop, and
///    registers hold the sums of all its iterations;
/// 3. every other element loaded moves by 0 to 4 along it, or by 1 to 4 along one dimension of a buffer that the
///    function allocates;
/// 4. the innermost loop is no reduction whose terms fill vectors of their own (vectorize_reductions.hpp).
/// Of several loops around the same stores, the one with most lanes, and the innermost of these.
ir::function vectorize_staged(const ir::function& f, const target::cpu& target);

}  // namespace tilewright::pass
