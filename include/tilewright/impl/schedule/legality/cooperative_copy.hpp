// Copies that threads make jointly stay copies that they can make.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/impl/dependence/concurrency.hpp>
#include <tilewright/impl/schedule/analysis/divergence.hpp>
#include <tilewright/impl/schedule/analysis/enclosing_definitions.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/analysis/threads.hpp>
#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/impl/schedule/legality/watched_parts.hpp>
#include <tilewright/ir/analysis/joint_copy.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/path.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/find.hpp>

namespace tilewright::primitive::detail {

/// Whether they decide what a block does.
inline bool decide(const differing_values& values, const ir::block_realize_node& r) {
  const auto decided = [&](const ir::expr& e) { return values.decide(e); };
  return values.decide(r.predicate) || support::any(r.values, decided) ||
         support::any(r.block->iters,
                      [&](const ir::iter_var& v) {
                        return values.decide(v.dom.min) || values.decide(v.dom.extent);
                      }) ||
         values.name(r.block->body);
}

/// Whether they decide that a thread comes to what stands in the statement, or how often.
inline bool decide_way(const differing_values& values, const ir::stmt& s) {
  if (const ir::if_node* branch = ir::as_if(s)) return values.decide(branch->condition);
  if (const ir::while_node* loop = ir::as_while(s)) return values.decide(loop->condition);
  if (const ir::loop_node* loop = ir::as_loop(s))
    return values.decide(loop->min) || values.decide(loop->extent);
  return false;
}

/// Whether the statement is a loop whose iterations run at once on no threads, which cannot wait for
/// each other.
inline bool cannot_wait(const ir::stmt& s) {
  const ir::loop_node* loop = ir::as_loop(s);
  return loop && runs_at_once(*loop) && loop->loop != ir::loop_kind::thread_binding;
}

/// Why the threads around the block at the end of the path cannot make its copy jointly; empty when
/// they can, or each makes its own.
inline std::string why_not_jointly(const path& at) {
  const ir::block_realize_node& r = *ir::as_realize(at.target());
  const auto is_joint = [&](const ir::stmt& s) {
    const ir::loop_node* loop = ir::as_loop(s);
    return loop && ir::copies_jointly(*r.block, *loop);
  };
  const auto& slots = at.slots;
  const auto first = static_cast<std::size_t>(
      support::find(slots, [&](const auto* s) { return is_joint(*s); }) - slots.begin());
  if (first == slots.size()) return "";
  if (const std::size_t scope = begin_of_scope(at); first < scope)
    return "each of them runs its own instance of block \"" +
           ir::as_realize(*slots[scope - 1])->block->name + "\" around it";
  differing_values values(*ir::as_loop(*slots[first]));
  for (std::size_t i = first; i + 1 < slots.size(); ++i) {
    values.follow(*slots[i]);
    if (i > first && decide_way(values, *slots[i])) return "not all of them come to it as often";
    if (cannot_wait(*slots[i]))
      return "the iterations of loop \"" + ir::as_loop(*slots[i])->var->name +
             "\" around it cannot wait for each other";
    if (is_joint(*slots[i])) values.add(ir::as_loop(*slots[i])->var);
  }
  if (decide(values, r)) return "it copies something else for each of them";
  return "";
}

/// A loop whose threads made the copy of the block at the end of the path jointly before, and now
/// would each make it alone; null when there is none.
inline const ir::loop_node* parted_by(const path& at, const path& before) {
  const ir::block_node& block = *ir::as_realize(at.target())->block;
  const ir::block_node& was = *ir::as_realize(before.target())->block;
  for (const ir::loop_node* then : before.all_loops())
    for (const ir::loop_node* now : at.all_loops())
      if (ir::copies_jointly(was, *then) && runs_at_once(*now) &&
          now->thread_tag == then->thread_tag && !ir::copies_jointly(block, *now))
        return now;
  return nullptr;
}

/// What threads could not do before is believed.
/// @throws schedule_error (requirement 0)
inline void check_joint_copies(std::string_view primitive, const ir::function& before,
                               const watched_parts& were, const ir::function& after,
                               const watched_parts& are) {
  const auto refuse = [&](const ir::loop_node& loop, const ir::block_node& copy, phrase what,
                          phrase reason) {
    refusal{primitive}(0, {"the threads of ", quoted(loop), " would ", what, " the copy of ",
                           quoted(copy), " jointly", reason});
  };
  for (const ir::block_node* copy : were.copies)
    if (const path at = find_block(after, copy->id))
      if (const ir::loop_node* loop = parted_by(at, find_block(before, copy->id)))
        refuse(*loop, *copy, "no longer make", "; alone, each lacks what others write");
  for (const ir::block_node* copy : are.copies) {
    const path at = find_block(after, copy->id);
    const std::string reason = why_not_jointly(at);
    if (reason.empty()) continue;
    const path was = find_block(before, copy->id);
    if (!was || why_not_jointly(was).empty())
      refuse(*joint_loop(at), *copy, "make", ", but " + reason);
  }
}

}  // namespace tilewright::primitive::detail
