// Iteration variables that are indices of the elements that a block writes.
#pragma once

#include <algorithm>

#include <tilewright/arith/linear.hpp>
#include <tilewright/ir/stmt.hpp>

namespace tilewright::primitive::detail {

/// The region of an instance tells the value of the variable, which is an index of an element.
inline bool is_index(const ir::iter_var& iter, const ir::buffer_region& r) {
  return ir::is_int(iter.dom.extent, 1) ||
         std::any_of(r.box.begin(), r.box.end(), [&](const ir::range& d) {
           if (!ir::is_int(d.extent, 1)) return false;
           if (d.min.same(iter.var)) return true;
           const arith::linear sum = arith::to_linear(d.min);
           return sum.terms.size() == 1 && sum.terms[0].first.same(iter.var);
         });
}

}  // namespace tilewright::primitive::detail
