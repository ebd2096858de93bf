#pragma once

#include <tilewright/space/cpu.hpp>
#include <tilewright/space/modules/add_rfactor.hpp>
#include <tilewright/space/modules/auto_inline.hpp>
#include <tilewright/space/modules/fuse_rows.hpp>
#include <tilewright/space/modules/multi_level_tiling.hpp>
#include <tilewright/space/modules/order_loops.hpp>
#include <tilewright/space/modules/parallel_vectorize.hpp>
#include <tilewright/space/root_blocks.hpp>

namespace tilewright::space {
namespace detail {

/// One sketch; consumers come before their producers, so that a producer is placed into loops that
/// are final.
inline void build_cpu_sketch(schedule& s, const context& where, chooser& choices) {
  bool tiled = false;
  const std::vector<std::string> blocks = root_block_names(s);
  for (auto name = blocks.rbegin(); name != blocks.rend(); ++name)
    if (has_block(s, *name) && needs_multi_level_tiling(s, *name)) {
      multi_level_tiling(s, *name, where, choices);
      tiled = true;
    }
  for (const std::string& name : blocks) {
    if (!has_block(s, name)) continue;
    if (needs_rfactor(s, name, where)) add_rfactor(s, name, where, choices);
    order_loops(s, name);
  }
  if (!tiled)
    for (const std::string& name : blocks)
      if (has_block(s, name) && is_output(s, name)) fuse_rows(s, name, where, choices);
  for (const std::string& name : blocks)
    if (has_block(s, name)) vectorize_innermost(s, name, where, choices);
  parallelize_outermost(s, where);
}

}  // namespace detail

TILEWRIGHT_INLINE design_space default_cpu(std::size_t limit) {
  return design_space(design_space::function([limit](schedule s, const context& where) {
    auto_inline(s);
    return enumerate(s, limit, [&](schedule& sketch, chooser& choices) {
      detail::build_cpu_sketch(sketch, where, choices);
    });
  }));
}

}  // namespace tilewright::space
