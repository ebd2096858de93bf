// What is asked about after every primitive, found in one walk over the program.
#pragma once

#include <vector>

#include <tilewright/impl/dependence/concurrency.hpp>
#include <tilewright/ir/analysis/joint_copy.hpp>
#include <tilewright/ir/visit.hpp>

namespace tilewright::primitive::detail {

/// Most programs have few of them, and most primitives leave these alone.
struct watched_parts {
  std::vector<const ir::block_node*> copies;            // that say of themselves that they copy
  std::vector<const ir::block_realize_node*> renaming;  // blocks with views of buffers
  bool run_at_once = false;                             // iterations of some loop do

  explicit watched_parts(const ir::function& f) {
    ir::any_stmt(f.body, [&](const ir::stmt& s) {
      if (const ir::loop_node* loop = ir::as_loop(s)) {
        run_at_once = run_at_once || dependence::runs_at_once(*loop);
      } else if (const ir::block_realize_node* r = ir::as_realize(s)) {
        if (ir::is_auto_copy(*r->block)) copies.push_back(r->block.get());
        if (!r->block->match_buffers.empty()) renaming.push_back(r);
      }
      return false;
    });
  }
};

}  // namespace tilewright::primitive::detail
