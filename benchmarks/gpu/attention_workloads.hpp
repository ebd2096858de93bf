// Attention with weights that are rounded to the operands' type, as FlashAttention-2 rounds them: what stage `attention` of
// the GPU program times.
#pragma once

#include <string>
#include <vector>

#include <tilewright/ir/stmt.hpp>

#include "workloads.hpp"

namespace gpu_workloads {

/// Y = softmax(scale Q K^T) V of `batch` heads.
struct attention_case {
  std::string type = "float16";  // of Q, K and V; sums and Y are f32
  int batch = 1, queries = 64, keys = 64, depth = 64;
  bool causal = false;  // the last query sees all keys
  double scale = 0.05;
};

/// The program; weights of f16 and bf16 values are rounded to these.
tilewright::ir::function attention_function(const attention_case& what);

/// 128 x 12 heads of 64 and of 128, of 1,024 to 4,096 queries and as many keys; a causal one, and one in f32.
std::vector<workload> attention_workloads();
/// The same, small enough to be emulated.
std::vector<workload> small_attention();

}  // namespace gpu_workloads
