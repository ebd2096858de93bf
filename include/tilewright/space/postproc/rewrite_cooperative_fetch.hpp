// Post-processor: the threads of a block fetch together what they share.
#pragma once

#include <cstdint>

#include <tilewright/space/space.hpp>

namespace tilewright::space {

/// Gives the innermost loop of every block annotated `meta_schedule.cooperative_fetch` = v to the
/// threads around it, v neighbouring elements each as a vector:
/// ```
/// for ax in range(1024): A_shared[..] = A[..]
/// ->  for o in range(8): for t in threadIdx.x(32): for v in vectorized(4): A_shared[..] = A[..]
/// ```
/// No vectors that do not divide the loop or have more than 16 bytes. Under `warp_execution` threadIdx.x has a warp's
/// threads. `tilewright.row_padding` = b: rows begin b bytes behind a multiple of 2 b. The annotations go.
struct rewrite_cooperative_fetch {
  std::int64_t warp_size = 32;
  /// It requires: 1. a loop around the block is bound to threadIdx.x, or one beside the block in the same
  /// loop on blocks.
  /// @throws schedule_error
  void operator()(schedule& s, const context& where) const;
};

}  // namespace tilewright::space
