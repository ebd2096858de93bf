// Random small programs and random schedules of them.
//
// A program has two to six stages over tiny, often prime, extents: elementwise maps, guarded
// stencils, reductions, transposes, flattened and unflattened reads, windows, gathers,
// concatenations by two writers, updates in place. Values stay small integers in every type, so
// that floats are exact and any two correct schedules agree bit for bit.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <tilewright/ir/stmt.hpp>
#include <tilewright/schedule/schedule.hpp>
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

/// A random program.
ir::function random_program(support::random& draw);

/// Result of one random step on a schedule.
struct step {
  std::string primitive;
  bool accepted = false;
  std::string text;  // the call, or what refused it
};

/// Applies one random primitive with random arguments.
/// @throws anything but schedule_error and argument_error that the primitive lets out
step random_step(schedule& s, support::random& draw);

/// Contents of all parameters after running `f` on fixed data, as bytes.
/// @throws what ir::interpret throws
std::vector<std::vector<char>> results_of(const ir::function& f, bool check_unwritten = true);

}  // namespace laws
