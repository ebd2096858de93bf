// Stages of random programs whose blocks hold more than a store, or stand in more than loops.
#pragma once

#include <laws/stages/stage_builder.hpp>

namespace laws::stages {

/// One element, or one row, that every iteration of a loop writes anew and then reads.
void scratch(stage_builder& build, bool last);
/// A block whose body stores only where a condition holds, everywhere or in one of two branches.
void skipping(stage_builder& build, bool last);
/// A block that holds loops around another block, perhaps with a guard.
void nested(stage_builder& build, bool last);
/// A value that a let around the block gives it.
void given(stage_builder& build, bool last);

}  // namespace laws::stages
