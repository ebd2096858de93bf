// Module: how much of a nest is written out (MetaSchedule: the unrolling of
// Parallelize-Vectorize-Unroll).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/space/chooser.hpp>
#include <tilewright/space/space.hpp>

namespace tilewright::space {

/// Draws up to how many steps the inner loops of a reduction's nest may unroll to, and annotates
/// it. Nests without reductions, and loops that are annotated already, are left alone.
/// ```
/// v = sample_categorical([0, 16, 64, 512])
/// annotate(outermost loop, "pragma_auto_unroll_max_step", v)
/// annotate(outermost loop, "pragma_unroll_explicit", 1)
/// ```
/// An annotated loop can be neither split nor fused, so this comes late.
/// Called for the root block, it annotates that one, `meta_schedule.unroll_explicit` = v, for
/// post-processing to spread over all nests (rewrite_parallel_vectorize_unroll).
struct random_unroll {
  std::vector<std::int64_t> max_steps{0, 16, 64, 512};  // equally likely; none: no unrolling
  /// By the library; otherwise by the code generator, where it likes to (`unroll_implicit`).
  bool written_out = true;

  void operator()(schedule& s, const std::string& block, const context& where,
                  chooser& choices) const;
};

}  // namespace tilewright::space
