// Module: what no other rule has bound runs on the blocks and threads of a device (TVM: AutoBind).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/space/chooser.hpp>
#include <tilewright/space/space.hpp>

namespace tilewright::space {

/// Fuses the outermost spatial loops of a block and binds them, the threads of a block drawn.
/// ```
/// for i, j: C   ->   for b in blockIdx.x: for t in threadIdx.x: C
/// ```
/// 1. More iterations than `max_threadblocks` full blocks: a serial loop inside takes the rest.
/// 2. Loops bound to threadIdx already get a blockIdx.x outside, loops bound to blockIdx a
///    threadIdx.x inside, from spatial loops where there are some, else of one iteration.
/// 3. No spatial loop outside: one block of one thread, so a pure reduction still runs.
/// 4. With `vector_bytes`, threads of a block that is bound whole and without reduction loops take
/// neighbouring elements, at most so many bytes of its output, as a vector; how many is drawn.
/// Blocks that are tiled, bound to both, or inside of other blocks stay.
struct auto_bind {
  std::int64_t max_threadblocks = 256;
  std::int64_t vector_bytes = 0;                                          // 0: no vectors
  std::vector<std::int64_t> thread_extents{32, 64, 128, 256, 512, 1024};  // equally likely
  std::int64_t max_threads_per_block = 1024;

  void operator()(schedule& s, const std::string& block, const context& where,
                  chooser& choices) const;
};

/// Where sizes come from that are not written in the rule.
struct thread_sizes {
  /// Threads of a block, at most `most`.
  std::function<factor(std::int64_t most)> threads;
  /// Elements of a vector, of a loop of that extent; nothing, or null: no vectors.
  std::function<std::optional<factor>(std::int64_t extent)> lanes = {};
};

/// The same with sizes from `sizes`; for post-processing.
void bind_to_threads(schedule& s, const std::string& block, std::int64_t max_threadblocks,
                     std::int64_t max_threads_per_block, const thread_sizes& sizes);

}  // namespace tilewright::space
