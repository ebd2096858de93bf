// Which loops are written out.
//
// unroll_loops follows the annotations `pragma_auto_unroll_max_step` = n (with or without
// `pragma_unroll_explicit`): inside an annotated loop, innermost first, loops of constant extent
// become unrolled while what they write out stays within n vector statements. Innermost loops of
// very few statements are unrolled in any case. It also takes back unrolling that would exceed
// `max_statements`, makes parallel loops inside parallel ones serial, and refuses loops bound to
// GPU threads.
//
// unroll_reductions writes a few iterations of the innermost reduction loops one after the other:
//
//   for k in range(129): C_acc += A[k] * B[k]
//   ->
//   for k in range(32):
//     for u in unroll(4): C_acc += A[k*4 + u] * B[k*4 + u]
//   for k in range(128, 129): C_acc += A[k] * B[k]
//
// Loops of fewer iterations than two such steps are written out where that is not more code.
//
// A loop with `sums_apart_note` = n has n accumulators, to which these iterations add in turn, and where nobody says so have many
// terms of few sums, in loops or written out; they are added up behind. That is done to sums in registers whose order is free.
#pragma once

#include <cstdint>

#include <tilewright/ir/reduction_notes.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::pass {

using ir::sums_apart_note;

struct unroll_limits {
  std::int64_t always = 8;                 // statements that are written out without being asked
  std::int64_t max_statements = 1024;      // vector statements of one nest of unrolled loops
  std::int64_t max_auto_step = 192;        // bound on what an annotation may ask for
  std::int64_t reduction_statements = 64;  // of an unrolled reduction
  std::int64_t reduction_factor = 4;
};

/// @throws build_error for a loop bound to GPU threads
ir::function unroll_loops(const ir::function& f, const target::cpu& target,
                          const unroll_limits& limits = {});

/// Expects accumulators promoted; loops in the code of edges (`edge_note`) are left.
ir::function unroll_reductions(const ir::function& f, const target::cpu& target,
                               const unroll_limits& limits = {});

}  // namespace tilewright::pass
