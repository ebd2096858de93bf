// Stages of random programs in which what an earlier block has written decides whether a block runs,
// where, and how often.
#pragma once

#include <laws/stages/stage_builder.hpp>

namespace laws::stages {

/// A block writes indices, and another one loads them around its body: in its guard, in a
/// condition, in the value of an iteration variable, or in the bound of a loop. The indices may be
/// written in the same loop, or change after they have been used.
void guarded(stage_builder& build, bool last);
/// A buffer of which all is written, for a stage that writes some of it.
ir::buffer filled(stage_builder& build, const ir::buffer& from, const shape& s, bool last);

}  // namespace laws::stages
