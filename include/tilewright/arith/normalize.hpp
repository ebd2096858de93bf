// Normal form of the index arithmetic of a function, to compare functions that two compilers made.
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::arith {

/// The function with every index, binding, predicate, extent and region simplified, given what is
/// around it, and with sums, comparisons and conjunctions in an order that does not depend on how
/// they were written. Structure, block signatures and float arithmetic stay as they are, so that
/// equality of two normal forms is equality up to integer arithmetic. Variables are renamed.
ir::function normalized(const ir::function& f);

}  // namespace tilewright::arith
