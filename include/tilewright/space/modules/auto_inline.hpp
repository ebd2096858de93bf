// Module: inline cheap element-wise blocks into their consumers (MetaSchedule, section 3.2).
#pragma once

#include <tilewright/space/space.hpp>

namespace tilewright::space {

/// Inlines every block that only rearranges or combines elements with cheap arithmetic, unless it
/// writes an output; refusals of compute_inline leave the block in place.
/// rewrite: `B[i] = A[i] * 2; C[i] = B[i] + 1` -> `C[i] = A[i] * 2 + 1`
void auto_inline(schedule& s);

}  // namespace tilewright::space
