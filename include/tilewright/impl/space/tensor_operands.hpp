// What a block and the description of an intrinsic are compared by: their operands, and which variables
// index these.
#pragma once

#include <cstddef>
#include <vector>

#include <tilewright/intrin/intrinsic.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/primitive/query.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::space::detail::tensor_forms {

/// The result, then the operands, of a block; a block without init reads its result, too.
inline std::vector<ir::buffer_region> operands_of(const ir::block_node& block) {
  std::vector<ir::buffer_region> out{block.writes[0]};
  for (const ir::buffer_region& r : block.reads)
    if (r.buffer != block.writes[0].buffer) out.push_back(r);
  return out;
}

/// The only block in the description; null when there are several.
inline const ir::block_node* described(const intrin::intrinsic& what) {
  const auto blocks = primitive::child_blocks(ir::root_block(what.description)->body);
  if (blocks.size() != 1 || blocks[0]->block->writes.size() != 1) return nullptr;
  for (const ir::iter_var& i : blocks[0]->block->iters)
    if (!ir::is_int(i.dom.extent)) return nullptr;
  return blocks[0]->block.get();
}

inline bool uses(const ir::buffer_region& region, const ir::var& v) {
  return support::any(region.box, [&](const ir::range& r) { return ir::uses_var(r.min, v); });
}

/// A variable's kind, and which operands it indexes: TensorIR's characteristic vector.
inline std::vector<bool> signature(const ir::iter_var& iter,
                                   const std::vector<ir::buffer_region>& operands) {
  std::vector<bool> out{iter.kind == ir::iter_kind::reduce};
  for (const ir::buffer_region& o : operands) out.push_back(uses(o, iter.var));
  return out;
}

/// Position of a variable among those of a block.
inline std::size_t position(const std::vector<ir::iter_var>& iters, const ir::expr& v) {
  std::size_t i = 0;
  while (i < iters.size() && !iters[i].var.same(v)) ++i;
  return i;
}

}  // namespace tilewright::space::detail::tensor_forms
