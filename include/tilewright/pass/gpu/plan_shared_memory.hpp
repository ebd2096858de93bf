// Decides where in a block's shared memory each buffer lies.
//
// Allocations of scope "shared" move out of the threads, between the loops on blocks and those on
// threads of their kernel, and get an `elem_offset`, a multiple of 128 bytes, or of 1024 where a
// warp group multiplies it. Buffers that live at
// different times lie at the same place; `place_barriers`, which comes after, keeps them apart.
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::pass {

/// Works on kernels (pass/gpu/unify_threads.hpp).
/// @throws build_error for a shared buffer without constant size
ir::function plan_shared_memory(const ir::function& f);

}  // namespace tilewright::pass
