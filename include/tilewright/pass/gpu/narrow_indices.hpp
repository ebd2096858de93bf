// Indices of 64 bits that 32 suffice for, which is what a GPU computes with at full speed.
//
//   for i in range(int64(4096)): B[i * int64(2)] = ..   ->   for i in range(4096): B[i * 2] = ..
//
// A loop whose variable has 64 bits, and whose values are known to fit into 32, gets a variable of 32; sums,
// products, quotients and comparisons follow as far as their values, and all that they are made of, fit
// too. What is loaded, and what may be larger, stays as it is.
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::pass {

/// Needs loops instead of blocks. A function without such loops is returned as it is.
ir::function narrow_indices(const ir::function& f);

}  // namespace tilewright::pass
