// Rebuilding operators of two operands without a list of them.
#pragma once

#include <tilewright/ir/expr.hpp>

namespace tilewright::ir::detail {

inline bool has_two_operands(op o) { return o >= op::add && o <= op::logical_or; }

/// The operator of `like`, which has two operands, on others: `with_args` without its list.
expr with_operands(const expr& like, const expr& a, const expr& b);

}  // namespace tilewright::ir::detail
