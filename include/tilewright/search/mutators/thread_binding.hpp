// Mutator: another number of threads.
#pragma once

#include <optional>

#include <tilewright/config.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/schedule/trace.hpp>
#include <tilewright/support/random.hpp>

namespace tilewright::search {

/// Draws the categorical again that sizes a loop bound to threadIdx.x, never the present value.
/// `v = sample_categorical(..); _, l = split(loop, [None, v]); bind(l, "threadIdx.x")`
std::optional<trace> mutate_thread_binding(const trace& t, const ir::function& f,
                                           support::random& random);

}  // namespace tilewright::search
