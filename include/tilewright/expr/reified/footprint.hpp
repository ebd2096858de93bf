// Regions that expressions read, for the declarations of a block.
#pragma once

#include <vector>

#include <tilewright/ir/stmt.hpp>

namespace tilewright::dsl {

/// One region per buffer loaded by the expressions, in order of first occurrence: the exact point
/// where all loads of a dimension agree, the span where they differ by constants, else the whole
/// dimension. Dimensions indexed through another load are whole.
std::vector<ir::buffer_region> footprint(const std::vector<ir::expr>& values);

}  // namespace tilewright::dsl
