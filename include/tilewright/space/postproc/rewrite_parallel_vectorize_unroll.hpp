// Post-processor: what the root is annotated with becomes kinds of loops.
#pragma once

#include <tilewright/space/space.hpp>

namespace tilewright::space {

/// Does what the annotations of the root ask for, in each nest below it, and takes them away:
/// - `meta_schedule.parallel` = n: outer spatial loops are fused until there are more than n
///   iterations, and run in parallel;
/// - `meta_schedule.vectorize` = n: inner spatial loops that walk all operands contiguously are
///   fused up to n iterations, and vectorized. They come before parallel ones where both want a
///   loop;
/// - `meta_schedule.unroll_explicit`, `meta_schedule.unroll_implicit` = n: reductions are unrolled
///   when they are lowered, while n steps are not exceeded.
/// ```
/// for i, j in grid(512, 64): B[i, j] = A[i, j] + 1
/// ->  for i in parallel(512): for j in vectorized(64): B[i, j] = A[i, j] + 1
/// ```
struct rewrite_parallel_vectorize_unroll {
  /// @throws schedule_error where a primitive refuses
  void operator()(schedule& s, const context& where) const;
};

}  // namespace tilewright::space
