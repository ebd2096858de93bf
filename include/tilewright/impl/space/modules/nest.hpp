// The loops around a block of the root scope, as the rules for devices look at them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/schedule/path.hpp>
#include <tilewright/space/root_blocks.hpp>

namespace tilewright::space::detail {

struct nest_loop {
  const ir::loop_node* node = nullptr;
  primitive::loop_iter_kind kind = primitive::loop_iter_kind::spatial;

  bool plain() const { return node->loop == ir::loop_kind::serial && node->annotations.empty(); }
  bool branches() const { return node->body->kind == ir::stmt_kind::seq; }
  bool bound_to(const std::string& axes) const {
    return node->loop == ir::loop_kind::thread_binding && node->thread_tag.rfind(axes, 0) == 0;
  }
};

/// Outermost first; valid as long as the program of `s`. None for blocks inside of other blocks.
inline std::vector<nest_loop> nest_of(const schedule& s, const std::string& block) {
  const primitive::block_scope scope(*ir::root_block(s.function()));
  const int child = scope.find(named_block(s, block).block->id);
  std::vector<nest_loop> out;
  if (child < 0) return out;
  for (const ir::loop_node* loop : scope[static_cast<std::size_t>(child)].loops)
    out.push_back({loop, primitive::iter_kind_of(scope, loop->var)});
  return out;
}

/// How many loops from `first` on can be fused into one for threads: plain spatial ones, the last
/// of which may hold several statements.
inline std::size_t spatial_prefix(const std::vector<nest_loop>& nest, std::size_t first = 0) {
  std::size_t count = 0;
  for (std::size_t i = first; i < nest.size(); ++i) {
    if (!nest[i].plain() || nest[i].kind != primitive::loop_iter_kind::spatial) break;
    ++count;
    if (nest[i].branches()) break;
  }
  return count;
}

inline bool in_root_scope(const schedule& s, const std::string& block) {
  if (!has_block(s, block)) return false;
  const primitive::block_scope scope(*ir::root_block(s.function()));
  return scope.find(named_block(s, block).block->id) >= 0;
}

}  // namespace tilewright::space::detail
