// Post-processor: loops have constant extents.
#pragma once

#include <tilewright/space/space.hpp>

namespace tilewright::space {

/// Rejects a candidate unless: 1. every loop starts at a literal and has a literal extent; one that runs in order may
/// have an extent that is read from memory where `walks` says so, as rows of a sparse matrix have.
struct disallow_dynamic_loop {
  bool walks = false;

  /// @throws schedule_error naming the loop and its extent
  void operator()(schedule& s, const context& where) const;
};

}  // namespace tilewright::space
