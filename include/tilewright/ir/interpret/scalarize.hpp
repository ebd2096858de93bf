// Vectors taken apart.
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::ir {

/// True when a buffer or a value of the function has several lanes.
bool has_vectors(const function& f);

/// The same function on scalars. A buffer of vectors gets one more dimension, the last, of as many
/// elements as a vector has lanes, so that its memory stays as it was; a store of a vector becomes
/// one store a lane, after all lanes of the value are known. Block ids are kept.
/// @throws argument_error for lanes that only the machine knows (T.vscale), and for calls that
///         only a machine understands
function scalarize(const function& f);

}  // namespace tilewright::ir
