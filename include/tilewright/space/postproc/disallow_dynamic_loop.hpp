// Post-processor: loops have constant extents.
#pragma once

#include <tilewright/space/space.hpp>

namespace tilewright::space {

/// Rejects a candidate unless: 1. every loop starts at a literal and has a literal extent.
struct disallow_dynamic_loop {
  /// @throws schedule_error naming the loop and its extent
  void operator()(schedule& s, const context& where) const;
};

}  // namespace tilewright::space
