// What the decisions of a trace tell of its program before it is replayed: a few products instead of
// a rewritten program.
#pragma once

#include <string>

#include <tilewright/config.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/schedule/trace.hpp>

namespace tilewright::target {
struct gpu;
}

namespace tilewright::search {

/// Why no candidate comes of a replay of `t` on `f`, as far as its decisions and the extents of `f`
/// tell; empty where only the replay can tell. What it finds:
/// 1. an `assert_` whose condition is false;
/// 2. a `split` whose factors do not cover the loop;
/// 3. on a GPU, more threads or virtual threads in a block of threads than there may be, or fewer
///    than a rule has asked for;
/// 4. on a GPU, operands of a tile, for all steps copied ahead, that shared memory does not hold, and results of a
///    thread or of its block that registers do not, counted where indices are sums of iteration variables.
/// What a replay accepts and post-processing for the GPU (`verify_gpu_code`) lets pass is never refused.
/// @param gpu null: requirements 1 and 2 alone
std::string refused_by_decisions(const trace& t, const ir::function& f, const target::gpu* gpu);

}  // namespace tilewright::search
