// The default space for CPUs.
#pragma once

#include <tilewright/space/space.hpp>

namespace tilewright::space {

/// Inlines cheap blocks, tiles reductions that share operands, computes chains row by row, and
/// gives the rest vectors and threads. At most `limit` sketches; the first one is a sound default.
/// @param intrinsics whether reductions that an instruction of the CPU does, sums of products of
///                   bytes or brain floats, may be tiled around it; false: plain vectors alone
design_space default_cpu(std::size_t limit = 48, bool intrinsics = true);

}  // namespace tilewright::space
