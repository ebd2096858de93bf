// Post-processor: blocks that a rule chose an intrinsic for become its implementation.
#pragma once

#include <tilewright/space/space.hpp>

namespace tilewright::space {

/// Tensorizes every block annotated `meta_schedule.auto_tensorize` with the name of an intrinsic,
/// and takes the annotation away. A candidate whose block does not match is rejected. Where
/// `vectorize_init_loop` says so, a block annotated with an empty name, as the init of a tensorized
/// reduction is, gets its innermost loop vectorized instead.
struct rewrite_tensorize {
  bool vectorize_init_loop = false;
  /// @throws schedule_error as tensorize and vectorize
  void operator()(schedule& s, const context& where) const;
};

}  // namespace tilewright::space
