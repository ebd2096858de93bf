// Stages of random programs in which the order of instances matters: several of them write one
// element, or read what others have written.
#pragma once

#include <laws/stages/triangular_stages.hpp>

namespace laws {

class overlapping_stages : protected triangular_stages {
 protected:
  using triangular_stages::triangular_stages;

  /// A block whose instances write elements several times.
  void rewritten(bool last);
  /// Two blocks in one nest that write the same elements in different iterations.
  void crossing(bool last);
  /// A sum, and a block below the loop that adds it up which sees each part of it.
  void running(bool last);
  /// Elements that follow from the ones before.
  void chain(bool last);
  /// A block without iteration variables, which uses the loops around it.
  void bare(bool last);
  /// A block that sees its input, or its result, as a row of its own.
  void matched(bool last);

  /// A matrix that is read.
  ir::buffer matrix();
};

}  // namespace laws
