// What no primitive may give up: what iterations that run at once compute each for itself stays theirs.
//
// As long as all that use a buffer stand below a loop whose iterations run at once, each iteration
// has the buffer for itself and may write what the others write too. A reader, a copy or a second
// nest outside of the loop makes one buffer of them, and a block that moves below such a loop, or
// gets another result, may begin to write what others see. One question after every primitive finds
// all of these, whatever the primitive did.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/impl/schedule/changed_blocks.hpp>
#include <tilewright/impl/schedule/concurrency.hpp>
#include <tilewright/ir/private_buffers.hpp>
#include <tilewright/ir/reads.hpp>
#include <tilewright/schedule/analysis.hpp>
#include <tilewright/schedule/footprint.hpp>
#include <tilewright/schedule/tvm_refusals.hpp>

namespace tilewright::primitive::detail {

/// The scopes of a program in which loops run at once.
inline void concurrent_scopes(const ir::block_node& root, std::vector<block_scope>& out) {
  if (ir::as_store(root.body)) return;  // most blocks: what computes
  block_scope scope(root);
  const std::vector<child_block>& blocks = scope.children();
  for (const child_block& c : blocks) concurrent_scopes(*c.realize->block, out);
  if (std::any_of(blocks.begin(), blocks.end(), [](const child_block& c) {
        return std::any_of(c.loops.begin(), c.loops.end(),
                           [](const ir::loop_node* l) { return runs_at_once(*l); });
      }))
    out.push_back(std::move(scope));
}
inline std::vector<block_scope> concurrent_scopes(const ir::function& f) {
  std::vector<block_scope> out;
  concurrent_scopes(*ir::as_realize(f.body)->block, out);
  return out;
}

/// The first loop whose iterations run at once and write the same elements of that region of the
/// block, which others see; null when there is none.
inline const ir::loop_node* racing_loop(const child_block& c, std::size_t region,
                                        ir::private_buffers& own) {
  for (std::size_t l = 0; l < c.loops.size(); ++l)
    if (runs_at_once(*c.loops[l]) && !copied_together(c.block(), *c.loops[l]) &&
        !writes_apart(c, l, c.block().writes[region], own))
      return c.loops[l];
  return nullptr;
}

/// A block of a program with its scope, which lives as long as this.
class found_block {
 public:
  found_block(const ir::function& f, std::uint64_t id) : scopes_(concurrent_scopes(f)) {
    for (const block_scope& scope : scopes_)
      if (const int c = scope.find(id); c >= 0) child_ = &scope[static_cast<std::size_t>(c)];
  }
  /// Null when there is none below loops that run at once.
  const child_block* get() const noexcept { return child_; }

 private:
  std::vector<block_scope> scopes_;
  const child_block* child_ = nullptr;
};

/// Whether the block has written that region so.
inline bool raced(const ir::function& f, std::uint64_t block_id, std::size_t region) {
  ir::private_buffers own(f.body);
  const found_block block(f, block_id);
  return block.get() && region < block.get()->block().writes.size() &&
         racing_loop(*block.get(), region, own);
}

/// The loop whose iterations had for themselves, before, what the block now writes for all at places
/// that are loaded; null when there is none. Who writes for all from the start says by spatial
/// variables that these places are different ones; here nobody has said so.
inline const ir::loop_node* exposed_by(const child_block& c, std::size_t region,
                                       ir::private_buffers& own, const ir::function& before) {
  const ir::buffer_region& w = c.block().writes[region];
  const auto loaded = [](const ir::expr& e) { return ir::reads_memory(e); };
  const std::vector<ir::expr>& values = c.realize->values;
  if (std::none_of(values.begin(), values.end(), loaded) &&
      std::none_of(w.box.begin(), w.box.end(), [&](const ir::range& d) { return loaded(d.min); }))
    return nullptr;
  const found_block old(before, c.block().id);
  if (!old.get() || region >= old.get()->block().writes.size()) return nullptr;
  ir::private_buffers owned(before.body);
  for (const ir::loop_node* l : c.loops) {
    const int at = loop_index(old.get()->loops, l->var);
    if (runs_at_once(*l) && at >= 0 && !own.within(*l, w.buffer) &&
        owned.within(*old.get()->loops[static_cast<std::size_t>(at)],
                     old.get()->block().writes[region].buffer))
      return l;
  }
  return nullptr;
}

/// Requirement 0 of the primitive. What a block wrote so before is believed, as what one scatters is.
/// @throws schedule_error
inline void check_private(std::string_view primitive, const ir::function& before,
                          const ir::function& after) {
  if (as_tvm() || !holds_concurrent_loop(after.body)) return;
  // those that give a loop its kind ask themselves whether its iterations may run at once
  const changed_blocks changed(before, after);
  if (changed.empty()) return;
  ir::private_buffers own(after.body);
  for (const block_scope& scope : concurrent_scopes(after))
    for (const child_block& c : scope.children())
      for (std::size_t w = 0; w < c.block().writes.size(); ++w) {
        const ir::buffer& written = c.block().writes[w].buffer;
        if (!changed.hold(c) && !changed.touch(written)) continue;
        const ir::loop_node* loop = racing_loop(c, w, own);
        if (loop && raced(before, c.block().id, w)) continue;
        if (!loop) loop = exposed_by(c, w, own, before);
        if (loop)
          throw schedule_error(std::string(primitive), 0,
                               "iterations of loop \"" + loop->var->name +
                                   "\", which run at once, would write the same elements of \"" +
                                   written->name + "\" in block \"" + c.block().name +
                                   "\", and not each for itself");
      }
}

/// Whether a primitive accepts a call: `attempt` makes it and gives the function that comes out.
template <class Attempt>
bool accepts(std::string_view primitive, const ir::function& f, const Attempt& attempt) {
  try {
    check_private(primitive, f, attempt());
    return true;
  } catch (const schedule_error&) {
    return false;
  }
}

}  // namespace tilewright::primitive::detail
