// Cleans loop nests: what an index computes, what a condition decides, and where it is asked.
//
//   for i in range(8):                          if n < 4:
//     for j in range(1):              ->          for i in range(8):
//       if n < 4 and i * 2 + j < 16:                A[i] = ...
//         A[i + j] = ...
//
// Loops of one iteration disappear, expressions are simplified with what is known about the
// variables, conditions that always hold are dropped, and conditions that do not change in a loop
// move in front of it.
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::pass {

ir::function simplify_loops(const ir::function& f);
ir::stmt simplify_loops(const ir::stmt& s);

}  // namespace tilewright::pass
