// Post-processor: reductions initialise in a block of their own.
#pragma once

#include <tilewright/space/space.hpp>

namespace tilewright::space {

/// Decomposes every reduction before the outermost loop that drives one of its reduce variables:
/// ```
/// for i, k: C[i] = 0 at k == 0; C[i] += A[i, k]   ->   for i: C[i] = 0
///                                                              for k: C[i] += A[i, k]
/// ```
/// A reduction that threads share, or that decompose_reduction refuses, keeps its init, which
/// lowering guards. The annotation `meta_schedule.auto_tensorize_init` of a block becomes the
/// `meta_schedule.auto_tensorize` of its init.
struct rewrite_reduction_block {
  void operator()(schedule& s, const context& where) const;
};

}  // namespace tilewright::space
