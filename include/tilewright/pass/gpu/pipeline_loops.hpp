// Software pipelines: iterations of a loop that overlap.
//
//   for k in range(8):                             load S[0]
//     S = load(k)       stage 0, order 1    ->     for k in range(7):
//     compute(S)        stage 1, order 0             compute(S[k % 2])
//                                                    load S[(k + 1) % 2]
//                                                  compute(S[7 % 2])
//
// A loop with the annotations `software_pipeline_stage` and `software_pipeline_order`, one number for each
// statement of its body: in round x of the new loop a statement works on iteration x - stage, at its place in
// the order. What the body allocates gets as many versions as iterations of it are alive at once. A
// pipelined loop inside of another one counts as three statements there: what comes before its rounds, the
// rounds, be they none, and what comes after them (MetaSchedule's and TVM's meaning of both annotations). With the
// annotation `software_pipeline_rest` the body may have more statements than the lists have numbers: those left
// follow the last one that has a number, in its stage.
//
// Stages listed in `software_pipeline_async_stages` copy from global to shared memory in the background:
// what they copy in vectors of 4, 8 or 16 bytes becomes `tw_copy_async`, each round is committed as one
// group, and a round begins by waiting for the group that the first stage behind them reads; borders of zeros are
// filled in by `tw_copy_or_zero`. A single iteration is copied in this way, too. Such a loop has one copy of its
// body, in whose last rounds nothing more is loaded; where later stages follow those that read, their last rounds
// stand behind it.
//
// Boxes of the copy engine are counted instead of committed (pass/gpu/tensor/copy_tensors.hpp). With the annotation
// `tilewright.producer` these copies and what uses them become two loops, for warps with roles
// (pass/gpu/tensor/specialize_warps.hpp): the versions are filled as they become free, through all rounds of loops around.
//
// Loops with fewer iterations than stages, or with another number of statements than the annotations, stay
// as they are: annotations change when something is done, never what.
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::pass {

/// Works on kernels (pass/gpu/unify_threads.hpp), before shared memory is planned and barriers are placed.
/// @throws build_error for stages and orders in which a statement would come before what it depends on
ir::function pipeline_loops(const ir::function& f);

}  // namespace tilewright::pass
