// Functions that carry the sparse program they were lowered from, so that its iterations can be scheduled.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/ir/sparse.hpp>

namespace tilewright::sparse {

/// What `lower` makes of the program, with its text as attribute `tilewright.iterations`: a schedule of it may
/// begin with sparse_reorder, sparse_fuse and sparse_decompose.
/// @throws argument_error as `lower`
ir::function with_iterations(const ir::sparse_function& f);

/// The program that the function was lowered from; nothing where it carries none, or is no longer what
/// lowering made of it. Annotations of the innermost block of an iteration are those of the iteration. A text that
/// this thread has read lately is not read again.
std::optional<ir::sparse_function> iterations_of(const ir::function& f);

/// Names of the iterations of a program, where each begins with rows and their elements and computes a result at each
/// of these, as a sampled product does; none where one does something else.
std::vector<std::string> iterations_of_elements(const ir::sparse_function& f);

/// Names of the iterations that begin with rows and their elements and sum over the latter, as a product with a matrix
/// does.
std::vector<std::string> sums_of_elements(const ir::sparse_function& f);

}  // namespace tilewright::sparse
