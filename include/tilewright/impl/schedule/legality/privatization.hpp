// What no primitive may give up: what iterations that run at once compute each for itself stays theirs.
//
// As long as all that use a buffer stand below a loop whose iterations run at once, each iteration
// has the buffer for itself and may write what the others write too. A reader, a copy or a second
// nest outside of the loop makes one buffer of them, and a block that moves below such a loop, or
// gets another result, may begin to write what others see. One question after every primitive finds
// all of these, whatever the primitive did.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/impl/dependence/binding/binding_loops.hpp>
#include <tilewright/impl/dependence/concurrency.hpp>
#include <tilewright/impl/dependence/cover/footprint.hpp>
#include <tilewright/impl/schedule/analysis/changed_blocks.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/ir/analysis/declared.hpp>
#include <tilewright/ir/analysis/private_buffers.hpp>
#include <tilewright/ir/storage_scope.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive::detail {

/// The scopes of a program in which loops run at once.
inline void concurrent_scopes(const ir::block_node& root, std::vector<block_scope>& out) {
  if (ir::as_store(root.body)) return;  // most blocks: what computes
  block_scope scope(root);
  const std::vector<child_block>& blocks = scope.children();
  for (const child_block& c : blocks) concurrent_scopes(*c.realize->block, out);
  if (support::any(blocks, [](const child_block& c) {
        return support::any(c.loops, [](const ir::loop_node* l) { return runs_at_once(*l); });
      }))
    out.push_back(std::move(scope));
}
inline std::vector<block_scope> concurrent_scopes(const ir::function& f) {
  std::vector<block_scope> out;
  concurrent_scopes(*ir::as_realize(f.body)->block, out);
  return out;
}

/// Whether the guard of the block leaves the first iteration of that loop alone.
inline bool runs_in_first(const child_block& c, std::size_t loop) {
  if (ir::is_true(c.realize->predicate)) return false;
  const ir::loop_node& asked = *c.loops[loop];
  const ir::var later = ir::make_var(asked.var->name, asked.var.type());
  const ir::expr one = ir::integer(later.type(), 1);
  arith::analyzer known;
  for (const ir::loop_node* l : c.loops)
    if (l != &asked) known.bind(l->var, {l->min, l->extent});
  known.bind(later, {asked.min + one, asked.extent - one});
  const std::vector<ir::expr> guards = ir::conjuncts(c.realize->predicate);
  return support::any(guards, [&](const ir::expr& g) {
    return ir::is_int(known.simplify(ir::substitute(g, {{asked.var, later}})), 0);
  });
}

/// Whether iterations of the loop at that position run at once, each its own instances of the block.
inline bool asked_of(const child_block& c, std::size_t loop) {
  return runs_at_once(*c.loops[loop]) && c.runs_alone(loop);
}

/// Whether one iteration alone of that loop reads the buffer in the block, and writes it in others.
inline bool met_in_first(const block_scope& scope, const child_block& reader, const ir::buffer& x,
                         std::size_t loop) {
  const ir::var& v = reader.loops[loop]->var;
  return runs_in_first(reader, loop) && support::all(scope.children(), [&](const child_block& c) {
           const int at = loop_index(c.loops, v);
           return at < 0 || !writes_buffer(c.block(), x) ||
                  runs_in_first(c, static_cast<std::size_t>(at));
         });
}

/// The results of a program's blocks as they were before a primitive.
class earlier_results {
 public:
  explicit earlier_results(const ir::function& f) : f_(f), own_(f.body) {}

  /// Whether iterations of loops that run at once wrote the same elements of that result, for all that
  /// is known. `idle`: only where no variable of the block followed the loop, so that certainly all did,
  /// those aside that a guard leaves out.
  bool raced(std::uint64_t block_id, std::size_t region, bool idle) {
    const child_block* c = find(block_id, region);
    for (std::size_t l = 0; c && l < c->loops.size(); ++l)
      if (asked_of(*c, l) && (!idle || !driven_loops(*c).any(l)) &&
          writes_apart(*c, l, c->block().writes[region], own_) == apartness::none)
        return true;
    return false;
  }
  /// Whether the block read what others wrote in other iterations of that loop.
  bool carried(std::uint64_t block_id, const ir::var& loop) {
    const block_scope* scope = scope_of(block_id);
    if (!scope) return false;
    const auto child = scope->position(block_id);
    const auto& reads = (*scope)[child].block().reads;
    return support::any(
        reads, [&](const ir::buffer_region& r) { return is_carried(*scope, child, r, loop); });
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
  const block_scope* scope_of(std::uint64_t block_id) {
    if (!scopes_) scopes_ = concurrent_scopes(f_);
    for (const block_scope& scope : *scopes_)
      if (scope.find(block_id) >= 0) return &scope;
    return nullptr;
  }
  const child_block* find(std::uint64_t block_id, std::size_t region) {
    const block_scope* scope = scope_of(block_id);
    if (!scope) return nullptr;
    const child_block& found = (*scope)[scope->position(block_id)];
    return region < found.block().writes.size() ? &found : nullptr;
  }

  const ir::function& f_;
  std::optional<std::vector<block_scope>> scopes_;  // hardly ever asked for
  ir::private_buffers own_;
};

/// The first loop whose iterations run at once and may write the same elements of that region of the
/// block, which others see; null when there is none. Iterations that did so before are believed, those
/// that certainly do if they certainly did. That spatial variables tell elements apart is believed of
/// what others have seen before, too: where each iteration had a buffer for itself, nobody has said
/// that they do.
inline const ir::loop_node* racing_loop(const child_block& c, std::size_t region,
                                        ir::private_buffers& own, earlier_results& earlier) {
  for (std::size_t l = 0; l < c.loops.size(); ++l) {
    if (!asked_of(c, l)) continue;
    const apartness known = writes_apart(c, l, c.block().writes[region], own);
    if (known == apartness::none
            ? !earlier.raced(c.block().id, region, !driven_loops(c).any(l)) && !runs_in_first(c, l)
            : known == apartness::believed && earlier.alone(c.block().id, region, c.loops[l]->var))
      return c.loops[l];
  }
  return nullptr;
}

/// Whether the block reads, in an iteration of that loop, what another one writes. Threads that share
/// memory of their scope have it each for themselves while all its uses stand below their loop.
inline bool reads_of_others(const block_scope& scope, std::size_t child, const ir::buffer_region& r,
                            std::size_t loop, ir::private_buffers& own) {
  const ir::loop_node& l = *scope[child].loops[loop];
  if (own.within(l, r.buffer))
    return ir::shared_across(r.buffer->scope, l) && is_lacking(scope, child, r, l.var);
  return is_carried(scope, child, r, l.var) && !met_in_first(scope, scope[child], r.buffer, loop);
}

/// The first loop whose iterations run at once in which the block reads what others write in another
/// iteration, not each for itself; null when there is none, or it did so before.
inline const ir::loop_node* finding_loop(const block_scope& scope, std::size_t child,
                                         ir::private_buffers& own, earlier_results& earlier) {
  const child_block& c = scope[child];
  for (std::size_t l = 0; l < c.loops.size(); ++l) {
    if (!asked_of(c, l)) continue;
    for (const ir::buffer_region& r : c.block().reads)
      if (reads_of_others(scope, child, r, l, own) &&
          !earlier.carried(c.block().id, c.loops[l]->var))
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
  const auto refuse = [&](const ir::loop_node& loop, const child_block& c,
                          const std::string& what) {
    refusal{primitive}(0, {"iterations of ", quoted(loop), ", which run at once, would ", what,
                           " in ", quoted(c.block()), ", and not each for itself"});
  };
  for (const block_scope& scope : concurrent_scopes(after))
    for (std::size_t i = 0; i < scope.size(); ++i) {
      const child_block& c = scope[i];
      const auto moved = [&](const ir::buffer_region& r) {
        return changed.hold(c) || changed.touch(r.buffer);
      };
      const std::vector<ir::buffer_region>&reads = c.block().reads, &writes = c.block().writes;
      for (std::size_t w = 0; w < writes.size(); ++w)
        if (const ir::loop_node* loop =
                moved(writes[w]) ? racing_loop(c, w, own, earlier) : nullptr)
          refuse(*loop, c, "write the same elements of \"" + writes[w].buffer->name + "\"");
      if (support::none(reads, moved)) continue;
      if (const ir::loop_node* loop = finding_loop(scope, i, own, earlier))
        refuse(*loop, c, "read what others of them write");
    }
}

}  // namespace tilewright::primitive::detail
