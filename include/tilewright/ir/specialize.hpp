// Symbolic extents and scalar parameters made literal.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <tilewright/ir/stmt.hpp>

namespace tilewright::ir {

/// Variables in the shapes and offsets of parameters, in order of first use; strides that are left
/// to run time are none.
std::vector<var> symbolic_extents(const function& f);

/// The function for given values of integer variables, found by name among the symbolic extents and
/// scalar parameters; others stay. Parameters keep their number and order; block ids are kept.
/// @throws argument_error for a name that is neither, or that is a scalar of a float type; for a
/// value that its type does not hold, a negative extent, and sizes that check_extents refuses
function specialize(const function& f, const std::map<std::string, std::int64_t>& values);

}  // namespace tilewright::ir
