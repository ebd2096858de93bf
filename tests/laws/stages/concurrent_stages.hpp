// Stages of random programs with loops whose iterations run at once: parallel, vectorized, or bound
// to threads of a GPU.
#pragma once

#include <laws/stages/stage_builder.hpp>

namespace laws::stages {

/// A map of which one loop, or two, run at once.
void concurrent(stage_builder& build, bool last);
/// An element or a row that every iteration writes anew and reads in two blocks.
void own_scratch(stage_builder& build, bool last);
/// Tiles that every iteration computes with a halo, which its neighbours compute, too.
void halo(stage_builder& build, bool last);
/// A sum below a loop whose iterations run at once, with its start and its epilogue.
void own_sum(stage_builder& build, bool last);
/// A block that holds loops around others, below such a loop or around one.
void enclosing(stage_builder& build, bool last);

}  // namespace laws::stages
