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
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/impl/schedule/changed_blocks.hpp>
#include <tilewright/impl/schedule/concurrency.hpp>
#include <tilewright/ir/private_buffers.hpp>
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

/// Whether iterations of the loop at that position run at once, each its own instances of the block.
inline bool asked_of(const child_block& c, std::size_t loop) {
  return runs_at_once(*c.loops[loop]) && !ir::copies_jointly(c.block(), *c.loops[loop]);
}

/// The results of a program's blocks as they were before a primitive.
class earlier_results {
 public:
  explicit earlier_results(const ir::function& f) : f_(f), own_(f.body) {}

  /// Whether iterations of loops that run at once wrote the same elements of that result.
  bool raced(std::uint64_t block_id, std::size_t region) {
    const child_block* c = find(block_id, region);
    for (std::size_t l = 0; c && l < c->loops.size(); ++l)
      if (asked_of(*c, l) &&
          writes_apart(*c, l, c->block().writes[region], own_) == apartness::none)
        return true;
    return false;
  }
  /// Whether each iteration of the loop had that result for itself.
  bool alone(std::uint64_t block_id, std::size_t region, const ir::var& loop) {
    const child_block* c = find(block_id, region);
    const int at = c ? loop_index(c->loops, loop) : -1;
    return at >= 0 &&
           own_.within(*c->loops[static_cast<std::size_t>(at)], c->block().writes[region].buffer);
  }

 private:
  /// Null where the block was none, or stood below no loops that run at once.
  const child_block* find(std::uint64_t block_id, std::size_t region) {
    if (!scopes_) scopes_ = concurrent_scopes(f_);
    for (const block_scope& scope : *scopes_)
      if (const int c = scope.find(block_id); c >= 0) {
        const child_block& found = scope[static_cast<std::size_t>(c)];
        return region < found.block().writes.size() ? &found : nullptr;
      }
    return nullptr;
  }

  const ir::function& f_;
  std::optional<std::vector<block_scope>> scopes_;  // hardly ever asked for
  ir::private_buffers own_;
};

/// The first loop whose iterations run at once and may write the same elements of that region of the
/// block, which others see; null when there is none. Iterations that did so before are believed, and
/// that spatial variables tell elements apart is believed of what others have seen before, too:
/// where each iteration had a buffer for itself, nobody has said that they do.
inline const ir::loop_node* racing_loop(const child_block& c, std::size_t region,
                                        ir::private_buffers& own, earlier_results& earlier) {
  for (std::size_t l = 0; l < c.loops.size(); ++l) {
    if (!asked_of(c, l)) continue;
    const apartness known = writes_apart(c, l, c.block().writes[region], own);
    if (known == apartness::none
            ? !earlier.raced(c.block().id, region)
            : known == apartness::believed && earlier.alone(c.block().id, region, c.loops[l]->var))
      return c.loops[l];
  }
  return nullptr;
}

/// @throws schedule_error (requirement 0)
inline void check_private(std::string_view primitive, const ir::function& before,
                          const ir::function& after) {
  // those that give a loop its kind ask themselves whether its iterations may run at once
  const changed_blocks changed(before, after);
  if (changed.empty()) return;
  ir::private_buffers own(after.body);
  earlier_results earlier(before);
  for (const block_scope& scope : concurrent_scopes(after))
    for (const child_block& c : scope.children())
      for (std::size_t w = 0; w < c.block().writes.size(); ++w) {
        const ir::buffer& written = c.block().writes[w].buffer;
        if (!changed.hold(c) && !changed.touch(written)) continue;
        if (const ir::loop_node* loop = racing_loop(c, w, own, earlier))
          throw schedule_error(std::string(primitive), 0,
                               "iterations of loop \"" + loop->var->name +
                                   "\", which run at once, would write the same elements of \"" +
                                   written->name + "\" in block \"" + c.block().name +
                                   "\", and not each for itself");
      }
}

}  // namespace tilewright::primitive::detail
