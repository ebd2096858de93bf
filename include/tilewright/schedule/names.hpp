// Names for new blocks: traces find blocks by name, so no two blocks may share one.
#pragma once

#include <string>

#include <tilewright/ir/stmt.hpp>

namespace tilewright::primitive {

/// `base`, or `base_1`, `base_2`, ... when blocks of the function, inits included, have the name
/// already.
std::string fresh_block_name(const ir::function& f, const std::string& base);

}  // namespace tilewright::primitive
