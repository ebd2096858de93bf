// From a kernel to the IR: the one door. Behind it nothing is a template.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <tilewright/expr/kernel.hpp>
#include <tilewright/ir/stmt.hpp>

namespace tilewright {

/// Extents of named dimensions: {{"M", 512}, {"N", 1024}}. // elements
using dim_values = std::map<std::string, std::int64_t, std::less<>>;

/// The IR function of a kernel at the given extents.
///
/// Parameters keep their order and names. Each definition is one block named after the tensor that
/// it writes (`Y`, `Y_1`, ...), a reduction inside a larger expression a block of its own before it
/// (`C_sum`; the only one takes the definition's name, `C`, and leaves `C_epilogue` to the rest),
/// reads beyond the edge go through a padding block (`X_pad`) that can be inlined. Loops
/// carry the names of the axes, block iteration variables these with a `v` in front.
///
/// It requires: 1) each named dimension has a value, and no other name has one; 2) extents are
/// positive; 3) the extents of an axis agree; 4) reads that are not guarded stay in bounds; 5) each
/// element of an output is written, and by one instance of a definition.
/// @throws argument_error that names kernel, tensor, index and the ranges of its axes
ir::function reify(const any_kernel& kernel, const dim_values& dims = {});

}  // namespace tilewright
