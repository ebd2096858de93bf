// Whether nests that do not wait for each other become one launch on a GPU.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <tilewright/impl/dependence/scope.hpp>
#include <tilewright/ir/analysis/atomic_update.hpp>
#include <tilewright/ir/kernel_notes.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/space/chooser.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::space::detail {

/// Draws whether lowering shall fuse kernels (pass/gpu/fuse_kernels.hpp), where some nests do not wait for each other.
///
/// One launch costs a few microseconds less than two, and its blocks fill a device that those of one part would leave half
/// empty; but all of its blocks have the threads, registers and shared memory of the largest part, so that neither is
/// always better.
struct fuse_launches {
  void operator()(schedule& s, const std::string& name, const context& /*where*/,
                  chooser& choices) const {
    const ir::block& root = ir::root_block(s.function());
    if (name != root->name || !has_independent_nests(*root)) return;
    const expr_rv fused = choices.categorical(s, {1, 0}, {1.0, 1.0});
    s.annotate(s.get_block(name), ir::horizontal_note, fused);
  }

 private:
  static bool has_independent_nests(const ir::block_node& root) {
    const dependence::block_scope scope(root);
    const std::vector<dependence::dependence_edge> edges = dependence::dependences(scope);
    for (std::size_t b = 1; b < scope.size(); ++b)
      for (std::size_t a = 0; a < b; ++a)
        if (scope.common_loops(a, b) == 0 && !waits(scope, edges, a, b)) return true;
    return false;
  }

  static bool waits(const dependence::block_scope& scope,
                    const std::vector<dependence::dependence_edge>& edges, std::size_t a,
                    std::size_t b) {
    const ir::buffer one = added_to(scope[a].block()), other = added_to(scope[b].block());
    if (one && one == other) return false;  // additions come in any order
    return support::any(edges, [&](const dependence::dependence_edge& e) {
      return e.source == a && e.target == b;
    });
  }

  /// What the block, or all of the innermost ones inside of it, do nothing but add to atomically; null where they do more.
  static ir::buffer added_to(const ir::block_node& b) {
    if (ir::adds_atomically(b)) return ir::only_addition(b.body)->buffer;
    ir::buffer out;
    bool only = true;
    ir::for_each_stmt(b.body, [&](const ir::stmt& s) {
      const ir::block_realize_node* inner = ir::as_realize(s);
      if (!inner) return;
      const bool adds = ir::adds_atomically(*inner->block);
      only = only && adds;
      if (adds) out = ir::only_addition(inner->block->body)->buffer;
    });
    return only && b.writes.size() == 1 ? out : ir::buffer{};
  }
};

}  // namespace tilewright::space::detail
