#pragma once

#include <algorithm>
#include <string>

#include <tilewright/impl/dependence/binding/domain_inference.hpp>
#include <tilewright/impl/dependence/binding/joint_domain.hpp>
#include <tilewright/impl/dependence/binding/loop_sums.hpp>
#include <tilewright/impl/dependence/concurrency.hpp>
#include <tilewright/impl/dependence/cover/guard_cut.hpp>
#include <tilewright/impl/dependence/cover/partial_values.hpp>
#include <tilewright/impl/dependence/loads.hpp>
#include <tilewright/impl/dependence/ragged_nest.hpp>
#include <tilewright/impl/schedule/analysis/enclosing_definitions.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/legality/invariants.hpp>
#include <tilewright/impl/schedule/legality/scoped_block.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/primitive/movement/compute_at.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/find.hpp>

namespace tilewright::primitive {
namespace detail::moving {

using footprints::never_above;

/// One call of compute_at (`forward`) or reverse_compute_at.
struct move {
  const char* name;
  bool forward;
  bool preserve_unit_loops;
  int index;
  bool asks = false;  // whether it is legal is all that is wanted; what it gives is not
};

inline void check_block(const move& m, const block_scope& scope, std::size_t child) {
  if (const int hazard = input_hazard(scope, child))
    refusal{m.name}(1, {quoted(scope[child]), " cannot move: ", hazard_text(hazard)});
  const auto against = [&](int other, const char* why) {
    if (other >= 0)
      refusal{m.name}(1, {quoted(scope[child]), " cannot move: ", quoted(scope[other]), why});
  };
  against(earlier_user(scope, child), " comes before it and uses what it writes");
  against(early_reader(scope, child), " reads its result in a common loop before it is final");
  if (m.forward)
    against(late_reader(scope, child), " reads results of it whose inputs others overwrite");
  if (const ir::var used = used_inside(scope[child]))
    refusal{m.name}(2, {quoted(scope[child]), " uses loop \"", used->name,
                        "\" without an iteration variable that stands for it"});
  if (const std::string why = no_box(scope[child]); !why.empty())
    refusal{m.name}(2, {quoted(scope[child]), " does not run over a box: ", why});
  const int complete = complete_violation(scope, child);
  if (complete == 0) return;
  const int reduction = reduction_violation(scope, child, guards::terms);
  if (reduction == 0) return;
  refusal{m.name}(2, {quoted(scope[child]), " is no complete block: ", complete_reason(complete),
                      ", and no reduction: ", reduction_reason(reduction)});
}

/// The block and its neighbours: what is the same whichever loop it goes to.
struct moving_block : scoped_block {
  std::vector<std::size_t> producers, consumers;
  /// What the neighbours, the consumers (forward) or the producers, share with it.
  struct exchange {
    std::size_t peer;
    const ir::buffer_region* region;
  };
  std::vector<exchange> shared;
  ir::var_set outside;  // variables_outside

  using scoped_block::scoped_block;
  const std::vector<std::size_t>& peers(const move& m) const {
    return m.forward ? consumers : producers;
  }
};

inline moving_block inspect(const move& m, const path& at) {
  if (!at.scope()) refusal{m.name}(3, "the root block cannot move");
  moving_block out(at);
  out.outside = variables_outside(at);
  check_block(m, out.scope, out.child);
  out.producers = producers(out.scope, out.child);
  out.consumers = consumers(out.scope, out.child);
  const ir::block_node& block = out.block();
  for (const std::size_t p : out.peers(m)) {
    const ir::block_node& peer = out.scope[p].block();
    for (const ir::buffer_region& r : m.forward ? peer.reads : peer.writes)
      for (const ir::buffer_region& own : m.forward ? block.writes : block.reads)
        if (may_overlap(block, own, peer, r)) {
          out.shared.push_back({p, &r});
          break;
        }
  }
  return out;
}

/// The neighbours have to be below the loop.
inline void check_peers(const move& m, const moving_block& b, const ir::loop_node& loop) {
  const block_scope& scope = b.scope;
  const char* role = m.forward ? "consumer" : "producer";
  if (m.forward && b.consumers.empty())
    refusal{m.name}(5, {quoted(*b), " has no consumer in its scope"});
  for (const std::size_t p : b.peers(m)) {
    const int at = loop_index(scope[p].loops, loop.var);
    if (at < 0)
      refusal{m.name}(
          5, {role, " ", quoted(scope[p]), " of ", quoted(*b), " is not below ", quoted(loop)});
    if (!m.forward && !(in_order(scope[p].loops) && may_read_partial_values(scope, b.child)) &&
        goes_on(scope, p, static_cast<std::size_t>(at) + 1))
      refusal{m.name}(
          5, {"producer ", quoted(scope[p]), " is still reducing, or overwrites its results, in ",
              quoted(loop), ", and running ", quoted(*b),
              " before it is done is no matter of repetition alone; choose a loop outside of "
              "those that do"});
    if (!m.forward && goes_on(scope, p, scope.common_loops(p, b.child)))
      refusal{m.name}(5,
                      {quoted(scope[p]), " overwrites its results in a loop that both are below"});
  }
}

/// Where among the loop's statements the block goes: behind its producers and in front of its
/// consumers.
inline std::size_t find_position(const move& m, const moving_block& b, const ir::loop_node& loop,
                                 const std::vector<ir::stmt>& items) {
  std::size_t first = 0, last = items.size();
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto holds_any = [&](const std::vector<std::size_t>& list) {
      return support::any(
          list, [&](std::size_t p) { return holds_block(items[i], b.scope[p].block().id); });
    };
    if (holds_any(b.producers)) first = i + 1;
    if (last > i && holds_any(b.consumers)) last = i;
  }
  if (first > last)
    refusal{m.name}(6, {"below ", quoted(loop), " there is no place for ", quoted(*b),
                        " after its producers and before its consumers"});
  if (m.index == -1) return last;
  if (m.index == -2) return first;
  if (m.index < 0 || static_cast<std::size_t>(m.index) < first ||
      static_cast<std::size_t>(m.index) > last)
    refusal{m.name}(
        6, {"place ", m.index, " below ", quoted(loop), " is not between ", first, " and ", last});
  return static_cast<std::size_t>(m.index);
}

/// What one iteration of the first `depth(peer)` loops around each peer needs of the block's
/// results (forward), or offers it to read.
template <class Depth>
std::vector<requirement> gather(const move& m, const moving_block& b, const Depth& depth) {
  std::vector<requirement> out;
  for (const auto& [p, region] : b.shared) {
    const child_block& peer = b.scope[p];
    const ir::buffer_region& r = *region;
    // each thread computes its own part of a global buffer, and all of what it shares with others
    const bool together = m.forward && ir::storage_rank(r.buffer->scope) != 0;
    const standing_loops standing{
        depth(p), together ? std::string_view(r.buffer->scope) : std::string_view{}};
    add_requirement(out, r.buffer, touched({peer, r}, standing), peer.loops);
  }
  return out;
}

/// Whether some region that the consumer reads lies within what is offered over the whole run.
inline bool reads_only(const child_block& c, std::size_t common,
                       const std::vector<requirement>& offered) {
  const auto within = [&](const span& part, const span& whole) {
    return part.lo && part.hi && whole.lo && whole.hi &&
           never_above(*whole.lo, *part.lo, c.loops) && never_above(*part.hi, *whole.hi, c.loops);
  };
  for (const ir::buffer_region& r : c.block().reads)
    for (const requirement& o : offered) {
      if (o.buffer != r.buffer) continue;
      footprint box = touched({c, r}, {common, {}});
      cover::cut_by_guard(box, {c, r}, {common, {}});
      if (std::equal(box.begin(), box.end(), o.box.begin(), within)) return true;
    }
  return false;
}

/// Every instance of a consumer must be called for by some iteration. One that reads nothing which
/// its producers write, as the border of a padding does, is not. `per_iteration` is what one
/// iteration calls for.
inline void check_all_called(const move& m, const moving_block& b,
                             const std::vector<iter_domain>& per_iteration) {
  const child_block& c = *b;
  std::size_t common = c.loops.size();
  for (const std::size_t p : b.producers)
    common = std::min(common, b.scope.common_loops(p, b.child));
  std::vector<requirement> offered = gather(m, b, [&](std::size_t) { return common; });
  for (requirement& o : offered)  // guards and shapes cut what the loops would reach
    for (span& s : o.box) {
      if (s.lo && s.lo->is_constant()) s.lo->constant = std::max(s.lo->constant, s.within.lo);
      if (s.hi && s.hi->is_constant()) s.hi->constant = std::min(s.hi->constant, s.within.hi);
    }
  const std::vector<iter_domain> solved =
      infer_domains(c.block(), c.block().reads, offered, c.loops);
  const std::size_t earliest = *std::min_element(b.producers.begin(), b.producers.end());
  const loop_nest& around = b.scope[earliest].loops;
  bool apart = !solved_jointly(per_iteration, around);  // each combination of values occurs
  for (std::size_t i = 0; i < solved.size(); ++i)
    apart =
        apart && (solved[i].lo || !per_iteration[i].lo) && (solved[i].hi || !per_iteration[i].hi);
  if (!apart && !reads_only(c, common, offered))
    refusal{m.name}(7, {quoted(c),
                        " may have instances that read nothing of its producers; no iteration of "
                        "the loop would run them"});
  const bound_iters& now = bind_iters(c);
  for (std::size_t i = 0; i < solved.size(); ++i) {
    if (!solved[i].lo || !solved[i].hi) continue;
    bool below = range_of(*solved[i].lo, c.loops).hi <= now.clip[i].lo;
    bool above = range_of(*solved[i].hi, c.loops).lo >= now.clip[i].hi;
    if (below && above) continue;
    const linear_range runs = relax(now.values[i], c, {common, {}});
    below = below || (runs.lo && never_above(*solved[i].lo, *runs.lo, c.loops));
    above = above || (runs.hi && never_above(*runs.hi, *solved[i].hi, c.loops));
    if (below && above) continue;
    // symbolic extents need more than the comparison of coefficients
    const arith::analyzer known = knowing(c.loops);
    const ir::range& dom = c.block().iters[i].dom;
    const auto within = [&](const ir::expr& first, const ir::expr& last) {
      return known.prove_le(arith::from_linear(*solved[i].lo), first) &&
             known.prove_le(last, arith::from_linear(*solved[i].hi));
    };
    const bool proved = !ir::is_int(dom.extent) &&
                        (within(dom.min, dom.min + dom.extent - 1) ||
                         (runs.lo && runs.hi &&
                          within(arith::from_linear(*runs.lo), arith::from_linear(*runs.hi))));
    if (!proved)
      refusal{m.name}(
          7, {quoted(c), " has instances along \"", c.block().iters[i].var->name,
              "\" that read nothing of its producers; no iteration of the loop would run them"});
  }
}

/// Cuts what is needed to the instances that there are, of a variable which blocks around the scope
/// decide about. Returns whether no others are left.
inline bool cut_to(iter_domain& needed, const linear_range& there, const loop_nest& loops) {
  if (!there.lo || !there.hi) return false;
  if (!needed.lo || never_above(*needed.lo, *there.lo, loops)) needed.lo = there.lo;
  if (!needed.hi || never_above(*there.hi, *needed.hi, loops)) needed.hi = there.hi;
  return never_above(*there.lo, *needed.lo, loops) && never_above(*needed.hi, *there.hi, loops);
}

/// What the predicate says of the iteration variables together, where it is more than a bound of each.
inline ir::expr joint_predicate(const move& m, const moving_block& b) {
  const child_block& child = *b;
  if (bind_iters(child).understood) return ir::boolean(true);
  const ir::expr& predicate = child.realize->predicate;
  ir::var_map iters;
  for (const ir::var& v : ir::free_vars(predicate)) {
    const auto value =
        support::find(child.realize->values, [&](const ir::expr& at) { return at.same(v); });
    if (value == child.realize->values.end() || ir::reads_memory(predicate))
      refusal{m.name}(1, {quoted(child),
                          " has a predicate that is no matter of its iteration variables alone"});
    const auto i = static_cast<std::size_t>(value - child.realize->values.begin());
    iters.emplace(v, child.block().iters[i].var);
  }
  return ir::substitute(predicate, iters);
}

/// The domains of the block at its new place. Instances that its loops leave out, as those that
/// pad_einsum adds behind a tile, are not run there either.
inline std::vector<fitted_iter> fit_domains(const move& m, const moving_block& b,
                                            std::vector<iter_domain> solved,
                                            const loop_nest& loops) {
  const child_block& child = *b;
  const bound_iters& old = bind_iters(child);
  const std::vector<ir::iter_var>& vars = child.block().iters;
  const auto untold = [&](std::size_t i) {
    refusal{m.name}(1, {quoted(child), " does not run for all values of \"", vars[i].var->name,
                        "\", and what it is needed for does not tell which"});
  };
  std::vector<bool> outside(vars.size());
  for (std::size_t i = 0; i < vars.size(); ++i) {
    if (vars[i].kind == ir::iter_kind::spatial && !ir::is_int(vars[i].dom.extent, 1) &&
        !(solved[i].lo && solved[i].hi) && !is_affine_binding(child) &&
        (old.understood || !is_affine_binding(unguarded(child).child)))
      untold(i);
    const ir::expr& value = child.realize->values[i];
    outside[i] = ir::uses_any(value, b.outside);
    if (outside[i] && !follows(value, child)) solved[i] = {old.values[i], old.values[i], {}};
    if (outside[i] && !cut_to(solved[i], relax(old.values[i], child, {0, {}}), loops)) untold(i);
  }
  std::vector<arith::bounds> clip = old.clip;
  for (std::size_t i = 0; i < clip.size(); ++i)
    clip[i] = meet(clip[i], range_of(old.values[i], child.loops));
  std::vector<fitted_iter> out = fit(child.block(), solved, clip, loops);
  if (out.size() < clip.size())
    refusal{m.name}(7, {"nothing of ", quoted(child), " is needed below the loop"});
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!outside[i]) continue;
    if (!out[i].start || out[i].start->is_constant() != solved[i].lo->is_constant()) untold(i);
    if (!ir::is_true(child.realize->predicate)) continue;
    out[i].at_least.reset();  // what there is lies in the domain as it did, without a guard
    out[i].at_most.reset();
    out[i].below = {};
  }
  return out;
}

/// A guard of the peers may keep the loads that say which instances are needed from running beyond
/// the end; where only that keeps them, all instances are needed.
inline void drop_unsafe(std::vector<iter_domain>& solved, const loop_nest& loops) {
  const auto is_unsafe = [&](const auto& term) {
    return ir::reads_memory(term.first) && !loads_inside(term.first, knowing(loops));
  };
  for (iter_domain& d : solved)
    for (auto* side : {&d.lo, &d.hi})
      if (*side && support::any((*side)->terms, is_unsafe)) side->reset();
}

/// What says which instances are needed is not written below the loop.
inline void check_given(const move& m, const moving_block& b, const ir::loop_node& loop,
                        const std::vector<iter_domain>& solved) {
  for (const iter_domain& d : solved)
    for (const auto* side : {&d.lo, &d.hi})
      for (std::size_t t = 0; *side && t < (*side)->terms.size(); ++t)
        if (const ir::expr& e = (*side)->terms[t].first; ir::reads_memory(e))
          for (const child_block& c : b.scope.children())
            for (const ir::buffer_region& w : c.block().writes)
              if (loop_index(c.loops, loop.var) >= 0 && ir::loads_from(e, w.buffer))
                refusal{m.name}(8, {quoted(c), " writes \"", w.buffer->name,
                                    "\" there, which says what is needed"});
}

/// What has to hold once the block stands at its new place. `users` are the blocks that read what
/// it writes.
inline void check_moved(const move& m, const ir::function& f, std::uint64_t id,
                        const std::vector<std::uint64_t>& users) {
  const scoped_block moved(f, id);
  const block_scope& scope = moved.scope;
  const std::size_t child = moved.child;
  if (!region_covered(scope, child, m.forward ? sums::finished : sums::partial))
    refusal{m.name}(8, {quoted(scope[child]), " would read what is not written there yet"});
  for (const std::uint64_t user : users) {
    const auto reader = scope.position(user);
    if (reader < child || !region_covered(scope, reader))
      refusal{m.name}(6, {quoted(scope[reader]), " would read what ", quoted(scope[child]),
                          " has not written yet"});
  }
  if (m.forward) return;
  if (!scope[child].block().init) return;
  if (reduction_violation(scope, child, guards::terms) != 0 || !init_comes_first(scope[child]))
    refusal{m.name}(
        4, {"reduction ", quoted(scope[child]), " would run instances more than once there"});
  const child_block& c = scope[child];
  for (const ir::loop_node* l : c.loops) {
    const bool adds_up =
        l->loop == ir::loop_kind::thread_binding && l->thread_tag.starts_with("threadIdx");
    if (l->loop == ir::loop_kind::serial || l->loop == ir::loop_kind::unrolled || adds_up) continue;
    for (std::size_t i = 0; i < c.realize->values.size(); ++i)
      if (c.block().iters[i].kind != ir::iter_kind::spatial &&
          ir::uses_var(c.realize->values[i], l->var))
        refusal{m.name}(4, {"iterations of ", quoted(*l),
                            ", which is not serial, would accumulate in ", quoted(c)});
  }
}

/// Loops around the new place run the block as often as it has to: a block without producers once an element,
/// each of the others at least once where its producers ran.
inline void check_runs(const move& m, const moving_block& b, const path& to,
                       const loop_nest& around) {
  const child_block& child = *b;
  const std::vector<std::size_t>& peers = b.peers(m);
  const std::vector<ir::expr>& values = child.realize->values;
  const bool driven =
      support::any(values, [&](const ir::expr& value) { return ir::uses_any(value, b.outside); });
  if (peers.empty() && (!in_order(around) || (driven && !in_order(to.all_loops()))))
    refusal{m.name}(5,
                    {quoted(child),
                     " has no producer in its scope; iterations of a loop that is not serial would "
                     "write the same elements"});
  if (const ir::loop_node* l = peers.empty() ? maybe_empty(around) : nullptr)
    refusal{m.name}(
        5, {quoted(child), " has no producer, and ", quoted(*l), " may have no iteration"});
  if (m.forward) return;
  for (const std::size_t p : peers)
    for (const ir::loop_node* l : around)
      if (loop_index(child.loops, l->var) < 0 && may_be_empty(*l, b.scope[p]))
        refusal{m.name}(
            7, {quoted(*l), " may have no iteration; ", quoted(child), " would not run then"});
}

/// The block moves below the loop at the end of `to`.
inline ir::function apply(const move& m, const ir::function& f, const moving_block& b,
                          const path& to) {
  const ir::loop_node& loop = *ir::as_loop(to.target());
  const child_block& child = *b;
  if (to.scope() != b.holder)
    refusal{m.name}(3, {quoted(loop), " is not in the scope of ", quoted(child)});
  if (loop_index(child.loops, loop.var) >= 0)
    refusal{m.name}(3, {quoted(loop), " contains ", quoted(child), " already"});
  if (m.forward && is_output(b.scope, b.child))
    refusal{m.name}(4, {quoted(child), " writes an output of its scope"});
  check_peers(m, b, loop);
  for (const ir::buffer_region& w : child.block().writes)
    if (loaded_above(to, w.buffer))
      refusal{m.name}(6,
                      {"bounds or conditions around the new place load \"", w.buffer->name, "\""});
  const std::vector<std::size_t>& peers = b.peers(m);
  std::vector<ir::stmt> items = statements_of(loop.body);
  const std::size_t position = find_position(m, b, loop, items);
  const std::vector<requirement> required = gather(m, b, [&](std::size_t p) {
    return static_cast<std::size_t>(loop_index(b.scope[p].loops, loop.var)) + 1;
  });
  loop_nest around = to.loops();
  around.push_back(&loop);
  const auto& in_terms_of = peers.empty() ? around : b.scope[peers.front()].loops;
  const ir::block& block = child.realize->block;
  std::vector<iter_domain> solved =
      infer_domains(*block, m.forward ? block->writes : block->reads, required, in_terms_of);
  drop_unsafe(solved, in_terms_of);
  check_given(m, b, loop, solved);
  if (!m.forward && !peers.empty()) check_all_called(m, b, solved);
  check_runs(m, b, to, around);
  const ir::expr jointly = joint_predicate(m, b);
  const std::vector<fitted_iter> fitted = fit_domains(m, b, solved, in_terms_of);
  // what reads nothing that blocks of its scope write finds it everywhere
  const bool settled = m.forward && b.producers.empty();
  if (settled && m.asks && in_order(around)) return f;
  std::vector<std::uint64_t> users;
  if (peers.empty())
    for (const std::size_t r : readers(b.scope, b.child)) users.push_back(b.scope[r].block().id);

  items.insert(items.begin() + static_cast<std::ptrdiff_t>(position),
               make_nest(block, fitted, m.preserve_unit_loops, jointly));
  const ir::stmt body = ir::with_body(loop, ir::make_seq(std::move(items)));
  const ir::function without = replace(f, b.at, ir::stmt{});
  ir::function out = replace(without, find_loop(without, loop.var), body);
  if (!settled) check_moved(m, out, block->id, users);
  return out;
}

inline ir::function apply(const move& m, const ir::function& f, std::uint64_t id,
                          const ir::var& v) {
  const path at = need_block(f, id, m.name);
  const path to = need_loop(f, v, m.name);
  return apply(m, f, inspect(m, at), to);
}

}  // namespace detail::moving

TILEWRIGHT_INLINE ir::function compute_at(const ir::function& f, std::uint64_t block,
                                          const ir::var& loop, bool preserve_unit_loops,
                                          int index) {
  return detail::moving::apply({"compute_at", true, preserve_unit_loops, index}, f, block, loop);
}

TILEWRIGHT_INLINE ir::function reverse_compute_at(const ir::function& f, std::uint64_t block,
                                                  const ir::var& loop, bool preserve_unit_loops,
                                                  int index) {
  return detail::moving::apply({"reverse_compute_at", false, preserve_unit_loops, index}, f, block,
                               loop);
}

namespace detail::moving {

inline std::vector<bool> accepts(move m, const ir::function& f, std::uint64_t block,
                                 const std::vector<ir::var>& loops) {
  m.asks = true;
  std::vector<bool> out(loops.size(), false);
  detail::accepts(m.name, f, [&] {
    const moving_block b = inspect(m, need_block(f, block, m.name));
    for (std::size_t i = 0; i < loops.size(); ++i)
      out[i] = detail::accepts(m.name, f,
                               [&] { return apply(m, f, b, need_loop(f, loops[i], m.name)); });
    return f;
  });
  return out;
}

}  // namespace detail::moving

TILEWRIGHT_INLINE std::vector<bool> can_compute_at(const ir::function& f, std::uint64_t block,
                                                   const std::vector<ir::var>& loops,
                                                   bool preserve_unit_loops) {
  return detail::moving::accepts({"compute_at", true, preserve_unit_loops, -1}, f, block, loops);
}

TILEWRIGHT_INLINE bool can_compute_at(const ir::function& f, std::uint64_t block,
                                      const ir::var& loop, bool preserve_unit_loops) {
  return can_compute_at(f, block, std::vector<ir::var>{loop}, preserve_unit_loops).front();
}

TILEWRIGHT_INLINE bool can_reverse_compute_at(const ir::function& f, std::uint64_t block,
                                              const ir::var& loop, bool preserve_unit_loops) {
  return detail::moving::accepts({"reverse_compute_at", false, preserve_unit_loops, -1}, f, block,
                                 {loop})
      .front();
}

}  // namespace tilewright::primitive
