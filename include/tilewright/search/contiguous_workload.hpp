// A function as something to tune: what a call with contiguous arguments asks for.
#pragma once

#include <tilewright/backend/call.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/target/machine.hpp>

namespace tilewright::search {

/// What a call of `f` with contiguous row-major arguments would tune, in the default space of the
/// machine. On a GPU arguments lie in its memory, aligned to 16 bytes, and one thread calls. What
/// the machine points to, and `exec`, must outlive it.
/// @throws argument_error for a function that keeps the order of its terms, on a GPU
workload contiguous_workload(const ir::function& f, const target::machine& where,
                             const backend::executor& exec);

}  // namespace tilewright::search
