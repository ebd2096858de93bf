// Strategy: independent members of the space, by running the space's own function again.
#pragma once

#include <memory>

#include <tilewright/search/strategy.hpp>

namespace tilewright::search {

/// Random search for spaces whose functions draw what no trace records. A task without `generate`
/// has no candidates.
std::unique_ptr<strategy> replay_functions();

}  // namespace tilewright::search
