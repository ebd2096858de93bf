// From blocks to plain loops.
//
//   for i, k in grid(8, 4):                    allocate T  (around the smallest statement that holds
//     with block("C"):                  ->                  every access, outside of the loops that
//                                                           carry its values)
//       vi, vk = axis.remap("SR", [i, k])      for i in range(8):
//       with init(): C[vi] = 0                   C[i] = 0
//       C[vi] = C[vi] + A[vi, vk]                for k in range(4):
//                                                  C[i] = C[i] + A[i, k]
//
// Iteration variables are replaced by their bindings, predicates become ifs, match buffers become
// accesses of their source. The initialization of a reduction moves in front of its outermost
// reduction loop; where the output is also touched by another block inside that loop it stays in
// place under a condition. Reduction loops are annotated with `reduction_note`, and with
// `reduction_lanes_note`, `long_rows_note` and `skip_zeros_note` of their block. In a function that
// keeps the order of its terms (ir/term_order.hpp) those of reductions of floats get `reduction_lanes_note` 0, and none of
// them `skip_zeros_note`.
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::pass {

/// The function without blocks; a function that has none is returned unchanged.
ir::function lower_blocks(const ir::function& f);

}  // namespace tilewright::pass
