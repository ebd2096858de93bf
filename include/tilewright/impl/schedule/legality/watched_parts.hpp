// What is asked about after every primitive, found in one walk over what the primitive has made anew.
#pragma once

#include <cstdint>
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
    run_at_once = (kinds_in(f.body) & at_once) != 0;
    gather(f.body);
  }

 private:
  static constexpr unsigned asked = 1, at_once = 2, copying = 4, viewing = 8;

  /// The kinds of parts in the statement, which the statement keeps.
  static unsigned kinds_in(const ir::stmt& s) {
    if (!s) return asked;
    if (const unsigned known = s->parts.get()) return known;
    unsigned kinds = asked;
    if (const ir::loop_node* loop = ir::as_loop(s)) {
      if (dependence::runs_at_once(*loop)) kinds |= at_once;
    } else if (const ir::block_realize_node* r = ir::as_realize(s)) {
      if (ir::is_auto_copy(*r->block)) kinds |= copying;
      if (!r->block->match_buffers.empty()) kinds |= viewing;
      kinds |= kinds_in(r->block->init);
    }
    ir::any_child(s, [&](const ir::stmt& child) {
      kinds |= kinds_in(child);
      return false;
    });
    s->parts.keep(static_cast<std::uint8_t>(kinds));
    return kinds;
  }

  /// Outermost first.
  void gather(const ir::stmt& s) {
    if (!(kinds_in(s) & (copying | viewing))) return;
    if (const ir::block_realize_node* r = ir::as_realize(s)) {
      if (ir::is_auto_copy(*r->block)) copies.push_back(r->block.get());
      if (!r->block->match_buffers.empty()) renaming.push_back(r);
      gather(r->block->init);
    }
    ir::any_child(s, [&](const ir::stmt& child) {
      gather(child);
      return false;
    });
  }
};

}  // namespace tilewright::primitive::detail
