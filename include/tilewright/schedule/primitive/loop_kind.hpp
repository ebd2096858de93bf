// parallel, vectorize, unroll: how a loop runs.
#pragma once

#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive {

/// Makes the iterations of a loop run on several threads (parallel) or in the lanes of a vector
/// (vectorize).
///
/// ```
/// for i in range(128):    ->    for i in parallel(128):
/// ```
/// Requires:
/// 1. compact dataflow below the loop: every block there is complete or a reduction within the
/// loop;
/// 2. the loop's variable occurs only in bindings of spatial iterators of the blocks below;
/// 3. a block below that does not depend on the loop writes nothing that is used outside of it.
/// A loop that has another kind already is given the new one.
/// @throws schedule_error
ir::function parallel(const ir::function& f, const ir::var& loop);
ir::function vectorize(const ir::function& f, const ir::var& loop);

/// Asks for the body of a loop to be repeated. No requirement beyond the loop's existence.
ir::function unroll(const ir::function& f, const ir::var& loop);

}  // namespace tilewright::primitive
