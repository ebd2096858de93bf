// Well-formedness of functions.
#pragma once

#include <tilewright/ir/stmt.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::ir {

/// A function that breaks a rule of the IR; the text names the offender.
class verify_error : public argument_error {
 public:
  using argument_error::argument_error;
};

/// Checks that
///  1. every variable is defined where it is used and not defined twice on one path; in a function
///  with
///     blocks no two loops share a variable;
///  2. a block body with iteration variables sees no variable of loops or lets outside of it;
///  3. every buffer in use is a parameter, or allocated or matched around the use;
///  4. operands, indices, bounds, conditions, predicates and stored values have the types that
///     ir/expr.hpp and ir/stmt.hpp ask for, and each access has one index per dimension;
///  5. a realize binds each iteration variable once, to a value of its type;
///  6. block names and ids are unique;
///  7. a block lists in its reads and writes every buffer that it accesses and does not allocate
///  (the
///     root block lists none; a block with `init` may read what it writes), and `init` uses no
///     reduce iteration variable;
///  8. what matches a region of a buffer has its type and its extents; leading dimensions of one
///     element may be left out;
///  9. a block that says that it adds atomically has no init, and a statement that does comes to one addition
///     (ir/analysis/atomic_update.hpp).
/// @throws verify_error for the first violation
void verify(const function& f);

}  // namespace tilewright::ir
