// Functions that carry the sparse program they were lowered from, so that its iterations can be scheduled.
#pragma once

#include <optional>

#include <tilewright/config.hpp>
#include <tilewright/ir/sparse.hpp>

namespace tilewright::sparse {

/// What `lower` makes of the program, with its text as attribute `tilewright.iterations`: a schedule of it may
/// begin with sparse_reorder and sparse_fuse.
/// @throws argument_error as `lower`
ir::function with_iterations(const ir::sparse_function& f);

/// The program that the function was lowered from; nothing where it carries none, or is no longer what
/// lowering made of it. A text that this thread has read lately is not read again.
std::optional<ir::sparse_function> iterations_of(const ir::function& f);

}  // namespace tilewright::sparse
