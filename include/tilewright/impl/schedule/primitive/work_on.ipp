#pragma once

#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/ir/alternatives.hpp>
#include <tilewright/schedule/primitive/work_on.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::primitive {

TILEWRIGHT_INLINE ir::function work_on(const ir::function& f, const std::string& func_name) {
  if (!ir::has_alternatives(f)) return f;
  std::string known;
  for (ir::function& each : ir::alternatives(f)) {
    if (each.name == func_name) {
      each.name = f.name;
      return std::move(each);
    }
    known += (known.empty() ? "" : ", ") + each.name;
  }
  refusal{"work_on"}(1, {"no algorithm is called ", func_name, "; there is ", known});
}

}  // namespace tilewright::primitive
