// Which algorithm of several runs when nothing was measured.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <tilewright/impl/search/session/algorithm_operations.hpp>
#include <tilewright/ir/alternatives.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::search::detail {

/// Whether it hands memory to functions of a library, whose operations nobody knows.
inline bool calls_library(const ir::function& f) {
  bool out = false;
  ir::for_each_expr(f.body, [&](const ir::expr& e) { out = out || e->op == ir::op::data; });
  return out;
}

/// The name of the algorithm with the fewest operations, where that has five eighths of those of the function's own or
/// less: Winograd's for a convolution with windows of 3x3 has two fifths of them at 28 by 28, and takes half of the time;
/// at 14 by 14, 256 channels, three fifths, and four fifths of the time. Else the function's.
inline std::string likely_algorithm(const ir::function& f, const target::cpu& cpu) {
  const std::vector<ir::function> all = ir::alternatives(f);
  std::string out = all.front().name;
  constexpr double worth = 5.0 / 8;
  double least = expected_operations(all.front(), cpu) * worth;
  for (std::size_t k = 1; k < all.size(); ++k) {
    const double expected = expected_operations(all[k], cpu);
    if (expected > least || calls_library(all[k])) continue;
    least = expected;
    out = all[k].name;
  }
  return out;
}

}  // namespace tilewright::search::detail
