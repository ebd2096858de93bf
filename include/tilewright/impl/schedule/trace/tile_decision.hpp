// What drawing a tile and listing all tiles have in common.
#pragma once

#include <cstdint>
#include <numeric>

#include <tilewright/schedule/instruction.hpp>
#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive::detail::sampling {

inline ir::expr extent_of(const ir::function& f, const ir::var& loop, const char* primitive) {
  return ir::as_loop(need_loop(f, loop, primitive).target())->extent;
}

/// Decision for a loop of symbolic extent: the outermost factor follows from the others.
inline decision inferred(int n, std::int64_t innermost) {
  decision out(static_cast<std::size_t>(n), 1);
  out.back() = innermost;
  out.front() = -1;
  return out;
}

/// Whether the product of the factors from `at` on is a multiple of `factor`.
inline bool inner_part_fits(const decision& factors, int at, std::int64_t factor) {
  for (auto i = factors.begin() + at; i != factors.end(); ++i) factor /= std::gcd(factor, *i);
  return factor == 1;
}

}  // namespace tilewright::primitive::detail::sampling
