// Module: a stage is computed at a random place among the loops of its consumers (MetaSchedule:
// Random-Compute-Location).
#pragma once

#include <string>

#include <tilewright/space/chooser.hpp>
#include <tilewright/space/space.hpp>

namespace tilewright::space {

/// Draws where a block that feeds others is computed: inlined, where it stands, or below a loop of
/// its consumer (sample_compute_location). Blocks that are tiled, have no loops, share their
/// outermost loop or write an output stay. Where the block is annotated
/// `meta_schedule.random_compute_producer`, as rfactor's last step may be, the note is removed and
/// its producers are moved first.
/// ```
/// for i, j: B[i, j] = A[i, j] * 2      ->   for i: for ax: B[i, ax] = A[i, ax] * 2
/// for i, j: C[i, j] = B[i, j] + 1                  for j: C[i, j] = B[i, j] + 1
/// ```
/// The place is a random variable of the trace, so the loops around the block differ between
/// members of a family: rules that name these loops have to come before.
struct random_compute_location {
  void operator()(schedule& s, const std::string& block, const context& where,
                  chooser& choices) const;
};

}  // namespace tilewright::space
