// Strategy: independent members of the space, by replaying sketches without decisions.
#pragma once

#include <memory>

#include <tilewright/search/strategy.hpp>

namespace tilewright::search {

/// Random search: sketches in turn, every decision drawn anew.
std::unique_ptr<strategy> replay_traces();

}  // namespace tilewright::search
