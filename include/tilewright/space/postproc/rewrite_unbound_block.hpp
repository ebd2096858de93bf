// Post-processor: every nest runs on the grid.
#pragma once

#include <cstdint>

#include <tilewright/space/space.hpp>

namespace tilewright::space {

/// Binds the nests that no rule bound, such as those of blocks that rules created, as auto_bind
/// does (modules/auto_bind.hpp), with as many threads in a block as there may be.
struct rewrite_unbound_block {
  std::int64_t max_threadblocks = 256;
  std::int64_t max_threads_per_block = 1024;
  /// @throws schedule_error where a primitive refuses
  void operator()(schedule& s, const context& where) const;
};

}  // namespace tilewright::space
