// Module: the threads of a block share a reduction (TVM: CrossThreadReduction).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/space/chooser.hpp>
#include <tilewright/space/space.hpp>

namespace tilewright::space {

/// True for a reduction over plain, constant loops of its own that has more than one step and is
/// not tiled. One that shares operands, and would rather be tiled, only when it reduces more than it
/// gives, and gives no more than a block has threads.
bool needs_cross_thread_reduction(const schedule& s, const std::string& block,
                                  std::int64_t max_threads_per_block);

/// Splits the fused reduction loops of the block over the threads of a block, or leaves them.
/// ```
/// for i, k: S[i] += A[i, k]   ->   for i, k_0: for k_1 in threadIdx.x: S[i] += A[i, k_0 * n + k_1]
/// ```
/// Where the block's outer spatial loops are also those of its first consumer, it is computed
/// there, into shared memory: the consumer's innermost loop is split and bound to as many threads,
/// unless it is bound already, as one that another reduction was moved to. Then their number is the
/// same random variable.
///
/// With numbers in `rows`, a block reduces that many rows at a time, each by a warp:
/// ```
/// for i, k: S[i] += A[i, k]
///   ->  for i_0, i_1 in threadIdx.y, k_0, k_1 in threadIdx.x: S[.] += A[i_0 * n + i_1, k_0 * 32 + k_1]
/// ```
/// A consumer has no threads yet then, and a loop inside of its rows. What a consumer without such a loop does with the result
/// of a row is done by one thread of its block, with `lone_rows`. With `vector_bytes` each thread takes
/// elements side by side, as many as are drawn of those that fit:
/// ```
///   ->  for i, k_0: for k_1 in threadIdx.x: for k_2 in unroll(4): S[i] += A[i, (k_0 * n + k_1) * 4 + k_2]
/// ```
/// With numbers in `columns`, a reduction that stays where it is, and whose results lie side by side as what it reads
/// for them does, gives each of as many results as a warp has lanes a column of threads:
/// ```
/// for i, k: S[k] += A[i, k]
///   ->  for k_0, k_1 in threadIdx.x, i_0, i_1 in threadIdx.y: S[k_0 * 32 + k_1] += A[i_0 * n + i_1, k_0 * 32 + k_1]
/// ```
/// Structural choice: in columns, across the threads of a block, not at all, or across those of a warp. The number
/// of threads is drawn, or that of rows.
struct cross_thread_reduction {
  std::vector<std::int64_t> thread_extents{4, 8, 16, 32, 64, 128, 256, 512};  // equally likely
  std::int64_t max_threads_per_block = 1024;
  std::vector<std::int64_t> rows{};     // equally likely; none: no such choice
  std::vector<std::int64_t> columns{};  // threads of a column, equally likely; none: no such choice
  std::int64_t warp_size = 32;
  int vector_bytes = 0;  // of a thread's loads; 0: an element
  bool tuples = false;   // whether reductions of several values move to their consumer too
  /// Whether a row has a block where its consumer has no loop inside of the rows; else so many rows have one as threads.
  bool lone_rows = false;

  void operator()(schedule& s, const std::string& block, const context& where,
                  chooser& choices) const;
};

}  // namespace tilewright::space
