// Parameters whose contents stay the same from call to call.
#pragma once

#include <vector>

#include <tilewright/ir/stmt.hpp>

namespace tilewright::ir {

/// Attribute of a function: the list of their positions. (TVM writes the same attribute.)
inline constexpr const char* bound_attribute = "layout_free_buffers";

/// Buffers that the attribute names; entries that are no buffer parameter count for nothing.
std::vector<buffer> bound_weights(const function& f);

}  // namespace tilewright::ir
