// What expressions take from memory.
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::ir {

/// True when evaluating `e` loads an element or calls a function.
inline bool reads_memory(const expr& e) { return e->reads_memory; }

/// Whether the expression, or an expression of the statement, loads from the buffer or takes its
/// address.
bool loads_from(const expr& e, const buffer& b);
bool loads_from(const stmt& s, const buffer& b);

}  // namespace tilewright::ir
