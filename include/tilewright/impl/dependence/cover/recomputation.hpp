// Whether the instances of a block run more than once, as compute_at leaves them under loops that
// the block does not depend on. A complete block may; a reduction may only as a whole, init
// included.
#pragma once

#include <cstddef>

#include <tilewright/impl/dependence/scope.hpp>

namespace tilewright::dependence {

/// True when no two iterations of the loops from position `first` on run the same instance.
bool runs_once(const child_block& child, std::size_t first);

}  // namespace tilewright::dependence
