#pragma once

#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/visit.hpp>

namespace tilewright::ir {

TILEWRIGHT_INLINE bool loads_from(const expr& e, const buffer& b) {
  bool found = false;
  for_each_expr(e, [&](const expr& x) { found = found || x->buffer == b; });
  return found;
}
TILEWRIGHT_INLINE bool loads_from(const stmt& s, const buffer& b) {
  bool found = false;
  for_each_expr(s, [&](const expr& x) { found = found || x->buffer == b; });
  return found;
}

}  // namespace tilewright::ir
