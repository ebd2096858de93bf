// Well-formedness of sparse programs, and what they mean on dense tensors.
#pragma once

#include <tilewright/ir/sparse.hpp>
#include <tilewright/ir/verify/verify.hpp>

namespace tilewright::ir {

/// The program with each sparse buffer a dense parameter in its place and each iteration a nest of
/// loops over coordinates: what it computes where what is not stored is zero, and sums of products
/// are all that is computed.
function dense_form(const sparse_function& f);

/// Checks that
///  1. axes stand behind their parents; a dense_fixed axis has none;
///  2. offsets and indices are parameters of one dimension that hold integers of 32 or 64 bits;
///  3. a sparse buffer has one axis per dimension, of its length, and storage of its type that is a
///     parameter of one dimension, or of one and those of its dense axes behind the stored ones;
///  4. an iteration binds each axis once, a stored one after its parent, as spatial or reduce;
///  5. the dense form is a well-formed function.
/// @throws verify_error for the first violation
void verify(const sparse_function& f);

}  // namespace tilewright::ir
