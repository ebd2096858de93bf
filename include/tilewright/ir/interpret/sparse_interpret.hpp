// The oracle for lowering: runs a sparse program as it stands.
//
// It looks at the pattern that the arguments hold, writes down what each iteration does at each
// point that is stored, with numbers in the place of coordinates, and runs that. No loop, no offset
// and no address of lowered code takes part.
#pragma once

#include <vector>

#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/ir/sparse.hpp>

namespace tilewright::ir {

/// Runs `f` on `args`, one per parameter in their order. A sparse buffer that is read at the
/// variables of its own axes gives the element at hand; read elsewhere, the one with these
/// coordinates, and zero where none is stored.
/// It requires: 1) literal extents; 2) coordinates of sparse buffers that are no loads; 3) at most a
/// million points in all.
/// @throws argument_error for these, and as the interpreter of functions does
void interpret(const sparse_function& f, const std::vector<tensor_view>& args);

}  // namespace tilewright::ir
