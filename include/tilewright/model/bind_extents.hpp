// Extents that a graph leaves open, given numbers.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <tilewright/model/graph.hpp>

namespace tilewright::network {

using extent_values = std::map<std::string, std::int64_t, std::less<>>;

/// Sets the named extents of the inputs.
/// @throws argument_error that lists the names when one has no number, when a number has no name, or
/// is not positive
void bind_extents(graph& g, const extent_values& extents);

}  // namespace tilewright::network
