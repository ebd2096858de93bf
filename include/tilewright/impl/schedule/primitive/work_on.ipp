#pragma once

#include <string_view>

#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/impl/schedule/primitive/reductions/joined_reductions.hpp>
#include <tilewright/ir/reformatted.hpp>
#include <tilewright/schedule/primitive/work_on.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::primitive {

TILEWRIGHT_INLINE ir::function work_on(const ir::function& f, const std::string& func_name) {
  constexpr std::string_view suffix = joined_suffix;
  if (func_name.size() > suffix.size() &&
      std::string_view(func_name).substr(func_name.size() - suffix.size()) == suffix) {
    const std::string name = func_name.substr(0, func_name.size() - suffix.size());
    if (std::optional<ir::function> joined = join_reductions(work_on(f, name)))
      return std::move(*joined);
    refusal{"work_on"}(2, {"no reductions of ", name, " can be joined"});
  }
  if (!ir::has_alternatives(f)) return f;
  if (std::optional<ir::function> one = ir::alternative(f, func_name)) {
    one->name = f.name;
    return std::move(*one);
  }
  std::string known;
  for (const ir::function& each : ir::alternatives(f))
    known += (known.empty() ? "" : ", ") + each.name;
  refusal{"work_on"}(1, {"no algorithm is called ", func_name, "; there is ", known});
}

}  // namespace tilewright::primitive
