// The outermost loops of nests as parallel loops.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <tilewright/impl/space/vector_axis.hpp>
#include <tilewright/schedule/primitive/query.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::space::detail {

inline constexpr std::int64_t all_iterations = std::numeric_limits<std::int64_t>::max();

/// How many of the loops, from outside, have `wanted` iterations together; all, where they have fewer or
/// their number is not known.
inline std::size_t loops_with(const schedule& s, const std::vector<loop_rv>& loops,
                              std::int64_t wanted) {
  for (std::size_t depth = 0; depth < loops.size(); ++depth) {
    const ir::expr& extent = s.get(loops[depth]).extent;
    if (!ir::is_int(extent)) break;
    const std::int64_t iterations = std::max<std::int64_t>(extent->integer, 1);
    if (wanted <= iterations) return depth + 1;
    wanted = (wanted - 1) / iterations + 1;
  }
  return loops.size();
}

/// Runs the outermost loops around a block in parallel: as many as `parallel` accepts, and no more than have
/// `wanted` iterations. A block whose outermost loop is anything but plain stays.
inline void parallelize_nest(schedule& s, const std::string& name, std::int64_t wanted) {
  schedule attempt = s;
  const std::vector<loop_rv> loops = attempt.get_loops(attempt.get_block(name));
  if (loops.empty() || !plain(attempt.get(loops[0]))) return;
  // fuse as deep as parallel accepts, down to one loop
  for (std::size_t depth = loops_with(attempt, loops, wanted); depth >= 1; --depth) {
    schedule trial = attempt;
    try {
      std::vector<loop_rv> outer(loops.begin(), loops.begin() + static_cast<long>(depth));
      bool free = support::all(outer, [&](loop_rv l) { return plain(trial.get(l)); });
      if (!free || (depth > 1 && depth == loops.size())) continue;
      trial.parallel(depth > 1 ? trial.fuse(outer) : outer[0]);
      s = std::move(trial);
      return;
    } catch (const schedule_error&) {
      // one loop less
    }
  }
}

/// The same for every block of the root scope.
inline void parallelize_nests(schedule& s, std::int64_t wanted) {
  for (const std::string& name : root_block_names(s)) parallelize_nest(s, name, wanted);
}

}  // namespace tilewright::space::detail
