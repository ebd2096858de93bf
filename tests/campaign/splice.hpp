// New programs out of others.
#pragma once

#include <optional>

#include <tilewright/ir/stmt.hpp>
#include <tilewright/support/random.hpp>

namespace campaign {

using namespace tilewright;

/// `first`, and then `second`, one of whose inputs is an output of `first`: through a block that reads it
/// element by element, round and round where the shapes differ. Nothing where `second` has no input of a
/// type to which that output converts.
std::optional<ir::function> spliced(const ir::function& first, const ir::function& second,
                                    support::random& draw);

/// `f` with one change to what it computes: another operation, constant or order of operands, a value that
/// goes through a function, or other extents.
ir::function mutated(const ir::function& f, support::random& draw);

}  // namespace campaign
