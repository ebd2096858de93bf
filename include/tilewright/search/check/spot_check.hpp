// Compares outputs with f64 arithmetic at a few points.
//
// Two schedules of one program may agree and both be wrong; what the program means in exact
// arithmetic is known only where it can be afforded, which is at some elements of the outputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/search/measurement/operands.hpp>
#include <tilewright/search/measurement/runner.hpp>

namespace tilewright::search {

/// Element of an output and what it should be.
struct spot {
  std::size_t operand = 0;    // number of the parameter
  std::int64_t position = 0;  // row-major
  double value = 0;
  double slack = 0;  // what decisions within the rounding may add to a float
};

struct spot_list {
  std::vector<spot> spots;
  std::string skipped;  // why there are none, or fewer than asked for; else empty
};

/// Evaluates random elements of what `f` writes on the arguments of `r`, in f64. `f` is the
/// unscheduled function. Integers that rounding decides are left out. Outputs of `r` are put back to
/// what they were before any call.
spot_list spot_values(const ir::function& f, runner& r, std::uint64_t seed,
                      std::size_t count = 256);

/// Compares outputs, as runner::outputs gives them, with the spots, within the tolerance of
/// compare_outputs.
/// @returns empty, or the first difference in words
std::string compare_spots(const std::vector<operand>& operands, const value_needs& needs,
                          const spot_list& list,
                          const std::vector<std::vector<std::byte>>& outputs);

}  // namespace tilewright::search
