// The architecture that has warp groups and the copy engine.
#pragma once

#include <tilewright/target/gpu.hpp>

#include "backend/cuda/cases.hpp"

namespace cases {

inline const target::gpu& hopper() {
  static const target::gpu out = target::named_gpu("sm_90a");
  return out;
}

/// The kernels of a scheduled function there.
inline cu::program on_hopper(const ir::function& scheduled) {
  return cu::print(pass::lower(scheduled, hopper()), hopper());
}

}  // namespace cases
