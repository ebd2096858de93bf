// Strategy: every program of the space once, where they are few enough to be made beforehand.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include <tilewright/search/strategy.hpp>

namespace tilewright::search {

/// Proposes all programs in the order of sketches and decisions, and ends. A space with more than
/// `most` members is searched by what `otherwise` makes.
/// @param otherwise null: evolution guided by boosted trees
std::unique_ptr<strategy> exhaustive(std::size_t most = 1 << 13,
                                     std::function<std::unique_ptr<strategy>()> otherwise = {});

}  // namespace tilewright::search
