// Stages of random programs in which the order of instances matters: several of them write one
// element, or read what others have written.
#pragma once

#include <laws/stages/stage_builder.hpp>

namespace laws::stages {

/// A block whose instances write elements several times.
void rewritten(stage_builder& build, bool last);
/// Two blocks in one nest that write the same elements in different iterations.
void crossing(stage_builder& build, bool last);
/// A sum, and a block below the loop that adds it up which sees each part of it.
void running(stage_builder& build, bool last);
/// Elements that follow from the ones before.
void chain(stage_builder& build, bool last);
/// A block without iteration variables, which uses the loops around it.
void bare(stage_builder& build, bool last);
/// A block that sees its input, or its result, as a row of its own.
void matched(stage_builder& build, bool last);

/// A matrix that is read.
ir::buffer matrix(stage_builder& build);

}  // namespace laws::stages
