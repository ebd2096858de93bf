// A function that doubles its argument, and one with two algorithms for it.
#pragma once

#include <string>

#include <tilewright/ir/alternatives.hpp>
#include <tilewright/ir/text/parse.hpp>

namespace programs {

using namespace tilewright;

/// B[i] = `value`, of n elements.
inline ir::function doubled(const std::string& name, const std::string& value,
                            const std::string& type = "float32", int n = 16) {
  const std::string shape = "(" + std::to_string(n) + ",), \"" + type + "\"";
  return ir::parse("@T.prim_func\ndef " + name + "(A: T.Buffer(" + shape + "), B: T.Buffer(" +
                   shape + ")):\n    for i in range(" + std::to_string(n) +
                   "):\n        with T.block(\"B\"):\n            vi = T.axis.spatial(" +
                   std::to_string(n) + ", i)\n            B[vi] = " + value + "\n");
}

/// `twice`, and `by_sum` beside it.
inline ir::function doubled_both_ways() {
  return ir::with_alternatives(doubled("twice", "A[vi] * T.float32(2)"),
                               {doubled("by_sum", "A[vi] + A[vi]")});
}

}  // namespace programs
