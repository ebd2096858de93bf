// parallel, vectorize, bind, unroll: how a loop runs.
#pragma once

#include <string>

#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive {

/// Makes the iterations of a loop run on several threads (parallel) or in the lanes of a vector
/// (vectorize).
///
/// ```
/// for i in range(128):    ->    for i in parallel(128):
/// ```
/// Requires:
/// 1. the dataflow below the loop is compact: every block there is complete, a reduction within the loop, or without an
///    init and reads of what the block writes only elements that the same iteration of the loop writes (as
///    Y[i + 1, c] = Y[i, c] + X[i, c] in the loop over c), writes other elements in every iteration, as its regions say,
///    or what is used below the loop alone, and reads nothing that another block writes in another iteration;
/// 2. the loop's variable occurs only in bindings of spatial iterators of the blocks below, and of those inside of them.
/// A loop that has another kind already is given the new one.
/// @throws schedule_error
ir::function parallel(const ir::function& f, const ir::var& loop);
ir::function vectorize(const ir::function& f, const ir::var& loop);

/// Makes the iterations of a loop run on the threads of an axis of a GPU's grid.
///
/// ```
/// for i in range(128):    ->    for i in thread_binding(128, thread="threadIdx.x"):
/// ```
/// Requires:
/// 1. the dataflow below the loop is compact, as for `parallel`;
/// 2. the loop's variable occurs only in bindings of spatial iterators of the blocks below; bindings
///    of reduce iterators are allowed too where the axis is threadIdx.*, whose threads can add up, and on any
///    axis but vthread of blocks that add atomically (add_atomically);
/// 3. the axis is blockIdx, threadIdx or vthread with .x, .y or .z, or plain vthread;
/// 4. where a loop around or below is bound to the same axis, the two are of one length, and the inner
///    one does the same in all iterations of the outer one, as a fetch that its threads share: a
///    thread has one place;
/// 5. where the axis is blockIdx, no other block of the loop's nest touches what a block below the loop adds to
///    atomically: blocks of threads do not wait for each other.
/// A loop that has another kind or axis already is given the new one.
/// @throws schedule_error
ir::function bind(const ir::function& f, const ir::var& loop, const std::string& thread_axis);

/// Asks for the body of a loop to be repeated.
///
/// Requires:
/// 1. the loop is not bound to threads that make a copy jointly.
/// @throws schedule_error
ir::function unroll(const ir::function& f, const ir::var& loop);

}  // namespace tilewright::primitive
