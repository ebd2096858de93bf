// Random small programs.
//
// A program has two to six stages over tiny, often prime, extents and buffers of rank 0 to 4:
// elementwise maps, guarded stencils, padding, reductions (of sums, peaks, and pairs of a peak and
// its place or its frequency), products, transposes, flattened and unflattened reads, windows, gathers,
// concatenations by two writers, updates in place, reductions with epilogues, overlapping windows,
// repeated indices, loops that stages share, blocks that run where a result says so, triangles,
// loops that run at once and what their iterations have for themselves. Some have symbolic extents,
// some loops that are split already.
//
// In most programs values stay small integers in every type, so that floats are exact and any two
// correct schedules agree bit for bit; the others compute with fractions and agree within a bound.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/ir/stmt.hpp>
#include <tilewright/support/random.hpp>

namespace laws {

using namespace tilewright;

/// @name Draws
/// @{
inline std::int64_t pick(support::random& draw, std::int64_t n) {
  return static_cast<std::int64_t>(draw.below(static_cast<std::uint64_t>(n)));
}
inline bool chance(support::random& draw, std::int64_t percent) {
  return pick(draw, 100) < percent;
}
template <class T>
const T& any(support::random& draw, const std::vector<T>& list) {
  return list[static_cast<std::size_t>(pick(draw, static_cast<std::int64_t>(list.size())))];
}
/// @}

struct program {
  ir::function function;
  std::map<std::string, std::int64_t> dims;  // of symbolic extents
  bool exact = true;                         // results of any two correct schedules are equal bits
  std::map<std::string, std::vector<std::int64_t>> data;  // what parameters hold, for some of them
};

/// With a theme, most stages are of that kind (a name in the table of random_programs.cpp).
program random_program(support::random& draw, std::string_view theme = {});

/// The program with another algorithm beside it, "twin", which does the same.
program with_twin(program p);

/// Sums and results on a random pattern; the function carries its iterations.
program sparse_program(support::random& draw);

}  // namespace laws
