// Strategy: members of the space at first, then changes of the fastest ones.
#pragma once

#include <memory>

#include <tilewright/search/strategy.hpp>

namespace tilewright::search {

/// Search without a model: one proposal in five is a new member of the space, the others are one or
/// two changes of a fast parent.
std::unique_ptr<strategy> local_search();

}  // namespace tilewright::search
