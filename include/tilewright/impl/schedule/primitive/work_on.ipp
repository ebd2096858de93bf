#pragma once

#include <string>

#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/impl/schedule/primitive/reductions/joined_reductions.hpp>
#include <tilewright/ir/reformatted.hpp>
#include <tilewright/schedule/primitive/work_on.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::primitive {

TILEWRIGHT_INLINE ir::function work_on(const ir::function& f, const std::string& func_name) {
  if (const std::string plain = without_joined(func_name); plain != func_name) {
    if (std::optional<joined_reductions> joined = join_reductions(work_on(f, plain)))
      return std::move(joined->function);
    refusal{"work_on"}(2, {"no reductions of ", plain, " can be joined"});
  }
  if (!ir::has_alternatives(f)) return f;
  const ir::block_realize_node* root = ir::as_realize(f.body);
  const std::string name = ir::sized_name(
      func_name, root ? ir::sizes_in(root->block->annotations) : std::vector<std::int64_t>());
  if (std::optional<ir::function> one = ir::alternative(f, name)) {
    one->name = f.name;
    return std::move(*one);
  }
  std::string known;
  for (const ir::function& each : ir::alternatives(f))
    known += (known.empty() ? "" : ", ") + each.name;
  refusal{"work_on"}(1, {"no algorithm is called ", name, "; there is ", known});
}

}  // namespace tilewright::primitive
