// Turns guards around the whole body of a loop into bounds of the loop.
//
//   for k in range(32):                         for k in range(min(32, 129 - k0*32)):
//     if k0*32 + k < 129:             ->          A[k] = ...
//       A[k] = ...
//
// Serial loops take symbolic bounds; unrolled and vectorized ones, and small serial loops of a
// register tile, only constant ones.
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::pass {

ir::function trim_loops(const ir::function& f);

}  // namespace tilewright::pass
