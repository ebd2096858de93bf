// Whether some expression of a program is of a kind.
#pragma once

#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::ir {

/// Whether `holds` says so of the expression or one in it.
template <class F>
bool any_expr(const expr& e, const F& holds) {
  return holds(e) || support::any(e->args, [&](const expr& arg) { return any_expr(arg, holds); });
}

/// Whether `holds` says so of an expression that `for_each_expr` finds in the statement, which may be
/// null.
template <class F>
bool any_expr(const stmt& s, const F& holds) {
  bool found = false;
  if (s) for_each_expr(s, [&](const expr& e) { found = found || holds(e); });
  return found;
}

}  // namespace tilewright::ir
