// Strategies: several as one. All of them learn every measurement; who proposes differs.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <tilewright/search/strategy.hpp>

namespace tilewright::search {

/// One after the other: each proposes until `patience` measured programs brought no time shorter by
/// the share `gain`, then the next one does, and after the last the first. One that has no
/// proposals is passed over.
/// Requires: 1. there is at least one member, and none is null.
/// @throws argument_error
std::unique_ptr<strategy> stages(std::vector<std::unique_ptr<strategy>> members,
                                 std::size_t patience = 48, double gain = 0.005);

/// In each round the member that promises most: how much its batches shortened the best time of
/// late, plus a bonus for having been asked seldom (UCB1). Requirement 1 of `stages`.
/// @throws argument_error
std::unique_ptr<strategy> portfolio(std::vector<std::unique_ptr<strategy>> members,
                                    double curiosity = 0.3);

}  // namespace tilewright::search
