// oneDNN's products and convolutions of bytes and of brain floats.
#pragma once

#include "peer.hpp"

namespace bench {

/// Element types: u8 times s8 in s32, s8 times s8 in s32, bf16 times bf16 in f32.
enum class dot_type { u8s8, s8s8, bf16 };

/// C = A B, or a convolution; layouts as in gemm_problem and conv_problem, in the types of `type`.
struct dot_problem {
  dot_type type;
  bool convolution = false;
  gemm_problem gemm{};  // extents alone are used
  conv_problem conv{};
  const void* a;
  const void* b;
  void* c;
};

/// oneDNN in the user's layout of A and C, or in the layouts that it prefers. Weights are packed
/// beforehand in both. No `run`: oneDNN is not installed or does not offer the problem.
prepared onednn_dot(const dot_problem& p, bool free_layout);

}  // namespace bench
