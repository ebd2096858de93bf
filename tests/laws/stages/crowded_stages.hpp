// Stages of random programs whose blocks hold more than a store, or stand in more than loops.
#pragma once

#include <laws/stages/overlapping_stages.hpp>

namespace laws {

class crowded_stages : protected overlapping_stages {
 protected:
  using overlapping_stages::overlapping_stages;

  /// One element, or one row, that every iteration of a loop writes anew and then reads.
  void scratch(bool last);
  /// A block whose body stores only where a condition holds, everywhere or in one of two branches.
  void skipping(bool last);
  /// A block that holds loops around another block, perhaps with a guard.
  void nested(bool last);
  /// A value that a let around the block gives it.
  void given(bool last);
};

}  // namespace laws
