// Products of warp groups, wgmma of sm_90a, by schedules that somebody wrote: what emulator, compile gate, mutants and
// stage hopper of the GPU program share.
#pragma once

#include <string>
#include <vector>

#include "../corpus.hpp"

namespace gpu_groups {

/// C[m, n] = A B with sums in f32; blocks of 128 x `columns` by two groups, 64 of k a step, `ahead` steps copied ahead.
struct shape {
  std::string name;
  std::string type = "float16";
  int m = 128, n = 128, k = 192;
  int columns = 128;
  int ahead = 2;
  /// How operands lie: as [m, k] and [k, n], else as [k, m] and [n, k].
  bool a_rows = true, b_rows = true;
  bool biased = false;    // a row is added to the sums, which are kept from 0 on
  bool boxes = false;     // the copy engine brings operands, not threads
  bool producer = false;  // and warps of their own ask it for these
  bool stores = false;    // the copy engine stores results, which lie in shared memory first
  int rounds = 1;         // tiles that a block makes one after the other
};

gpu_corpus::entry product(const shape& s);

/// Small enough to be emulated, operands lying every way.
std::vector<gpu_corpus::entry> small();
/// 4096^3 of f16 and bf16.
std::vector<gpu_corpus::entry> large();

}  // namespace gpu_groups
