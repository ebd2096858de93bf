// What blocks do to each other is known to the room `dependence`; the schedule speaks of it by its
// names.
#pragma once

#include <tilewright/impl/dependence/scope.hpp>

namespace tilewright::primitive {

using namespace dependence;

}  // namespace tilewright::primitive
