#pragma once

#include <tilewright/impl/dependence/binding/loop_sums.hpp>
#include <tilewright/impl/dependence/loads.hpp>
#include <tilewright/impl/schedule/analysis/conditional_execution.hpp>
#include <tilewright/impl/schedule/analysis/enclosing_definitions.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/impl/schedule/rewrite/cache_stage.hpp>
#include <tilewright/schedule/primitive/staging/cache.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive {
namespace detail::cache_stage {

/// What the block writes of the buffer while the first `fixed` loops stand still, where it is a box.
inline std::optional<footprint> filled_by(const child_block& w, const ir::buffer& x,
                                          std::size_t fixed) {
  std::optional<footprint> all;
  for (const ir::buffer_region& r : w.block().writes) {
    if (r.buffer != x) continue;
    if (all) return std::nullopt;
    all = written({w, r}, {fixed, {}});
    if (!all) return all;
  }
  return all;
}

/// Whether the box that the writer fills holds all that the reader reads, of which nothing comes from
/// outside of the scope then.
inline bool reads_within(const block_scope& scope, std::size_t writer, std::size_t reader,
                         const ir::buffer& x, const footprint& box) {
  if (scope.allocates(x)) return true;  // it is covered, and by whom else
  const child_block& r = scope[reader];
  const standing_loops standing{scope.common_loops(writer, reader), {}};
  const auto inside = [](const span& part, const span& whole) {
    return part.within.lo >= whole.within.lo && part.within.hi <= whole.within.hi;
  };
  for (const ir::buffer_region& in : r.realize->block->reads) {
    if (in.buffer != x) continue;
    const footprint part = touched({r, in}, standing);
    if (!std::equal(part.begin(), part.end(), box.begin(), inside)) return false;
  }
  return true;
}

/// All that the readers touch where the copy stands, which neither lets, nor what blocks of the scope
/// write, nor what is loaded at the loops below decide.
inline footprint needed_by(const block_scope& scope, const std::vector<std::size_t>& readers,
                           const ir::buffer& x, std::size_t fixed) {
  footprint out = united(scope, readers, x, fixed);
  ir::var_set inside = defined_by_lets(scope.root());
  for (const std::size_t r : readers)
    for (std::size_t l = fixed; l < scope[r].loops.size(); ++l)
      inside.insert(scope[r].loops[l]->var);
  widen(out, [&](const ir::expr& term) {
    return ir::uses_any(term, inside) || loads_results(scope, term);
  });
  return out;
}

/// The loops of the scope tell how much of each dimension is written at most; else the copy would
/// run over more.
inline void check_sizes(const call& c, int requirement, const child_block& w, const ir::buffer& x,
                        const footprint& all) {
  for (std::size_t d = 0; d < all.size(); ++d) {
    const span& s = all[d];
    if (ir::is_int(x->shape[d]) && s.lo && s.hi && !(s.lo->is_constant() && s.hi->is_constant()) &&
        footprints::range_of_difference(*s.hi, *s.lo, w.loops).hi == bounds::positive_infinity)
      refusal{c.name}(requirement,
                      {"how much ", quoted(w.block()), " writes is decided outside of its scope"});
  }
}

inline footprint whole(const ir::buffer& x) {
  footprint out;
  for (const ir::expr& extent : x->shape) {
    const ir::expr zero = ir::integer(extent.type(), 0);
    out.push_back({arith::to_linear(zero), arith::to_linear(extent - ir::integer(extent.type(), 1)),
                   constant_range({zero, extent})});
  }
  return out;
}

/// Whether a guard inside one of the blocks says which part of the buffer it reads.
inline bool guarded_inside(const block_scope& scope, const std::vector<std::size_t>& list,
                           const ir::buffer& x) {
  const auto guarded = [&](const ir::stmt& s) {
    const ir::block_realize_node* r = ir::as_realize(s);
    return r && !ir::is_true(r->predicate) && reads_buffer(*r->block, x);
  };
  return support::any(list,
                      [&](std::size_t i) { return ir::any_stmt(scope[i].block().body, guarded); });
}

/// The blocks that read the buffer. A writer with blocks inside that read what others inside have written
/// keeps it, unless the cache is asked for that block.
inline std::vector<std::size_t> readers_of(const block_scope& scope, const ir::buffer& x,
                                           int writer, std::uint64_t id) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < scope.size(); ++i)
    if (reads_buffer(*scope[i].realize->block, x)) out.push_back(i);
  if (writer != scope.find(id)) std::erase(out, static_cast<std::size_t>(writer));
  return out;
}

inline new_block read(const ir::function& f, std::uint64_t id, int index,
                      const std::string& storage, const std::vector<std::uint64_t>& ids) {
  const call c{"cache_read", storage};
  const path at = need_block(f, id, c.name);
  const subject s = look_up(c, at, index, true);
  const block_scope scope(*s.holder->block);
  std::vector<std::size_t> readers = pick_consumers(c, 5, scope, ids, s.buffer);
  if (!ids.empty() && readers.empty())
    refusal{c.name}(5, {"no listed consumer reads \"", s.buffer->name, "\""});
  const int writer = only_writer(c, scope, s.buffer);
  if (ids.empty()) readers = readers_of(scope, s.buffer, writer, id);
  for (const std::size_t r : readers)
    if (changes_in_while(find_block(f, scope[r].block().id), scope, r))
      refusal{c.name}(
          4, {"a while repeats ", quoted(scope[r]), ", which may read something else each time"});
  for (const std::size_t r : readers)
    if (static_cast<int>(r) == writer)
      refusal{c.name}(3, {quoted(scope[r]), " writes \"", s.buffer->name, "\" too"});
  bool one_depth = true;
  const place where = place_after(c, scope, writer, readers, one_depth);
  const path holder = find_block(f, s.holder->block->id);
  loop_nest loops = scope[readers.front()].loops;
  std::optional<footprint> needed;
  if (where.anchor >= 0) {
    needed = filled_by(scope[writer], s.buffer, where.depth);
    if (needed) {
      loops = scope[writer].loops;
      check_sizes(c, 4, scope[writer], s.buffer, *needed);
      if (!support::all(readers, [&](std::size_t r) {
            return reads_within(scope, static_cast<std::size_t>(writer), r, s.buffer, *needed);
          }))
        needed.reset();
    }
    if (!needed && !one_depth)  // readers further out need all that was written
      refusal{c.name}(
          4, {"what ", quoted(scope[writer]),
              " writes per iteration of the common loops is no box, or not all that is read"});
  } else if (!holder.scope() && !guarded_inside(scope, readers, s.buffer)) {
    needed = whole(s.buffer);
  }
  const bool by_readers = !needed;
  if (!needed) needed = needed_by(scope, readers, s.buffer, where.depth);
  const plan p = make_plan(c, f, holder, s.buffer, std::move(*needed), where.depth == 0);
  new_block out;
  const ir::stmt nest = copy_nest(p, true, loops, out.block);
  if (!nest) refusal{c.name}(4, {"nothing of \"", s.buffer->name, "\" is read"});
  out.function = f;
  for (const std::size_t r : readers) out.function = redirect(out.function, scope[r].block().id, p);
  out.function = insert(out.function, s.holder->block->id, scope, where, p.cache, nest);
  check_closed(c, 4, out);
  if (by_readers) check_filled(refusal{c.name}, 4, find_block(out.function, out.block), p.cache);
  return out;
}

/// Every listed consumer finds in the cache what it reads.
inline void check_consumers(const call& c, const ir::function& f, std::uint64_t holder,
                            const std::vector<std::uint64_t>& ids) {
  const path at = find_block(f, holder);
  const block_scope scope(*ir::as_realize(at.target())->block);
  for (const std::uint64_t id : ids) {
    const auto r = scope.position(id);
    if (!region_covered(scope, r))
      refusal{c.name}(6, {quoted(scope[r]), " reads more than is in the cache before it"});
  }
}

/// The consumers that read the cache find in the buffer what the writer has left there, and nothing but their
/// blocks reads it.
inline void check_direct(const call& c, const ir::function& f, const block_scope& scope,
                         std::size_t writer, const std::vector<std::size_t>& direct,
                         const ir::buffer& x) {
  for (const std::size_t r : direct) {
    path above = find_block(f, scope[r].block().id);
    above.slots.pop_back();
    if (loads_around(*scope[r].realize, x) || loaded_above(above, x))
      refusal{c.name}(6, {"the guard, an iteration variable, or a bound or condition around ",
                          quoted(scope[r]), " loads \"", x->name, "\" too"});
  }
  for (const std::size_t r : direct)
    if (r < writer || !region_covered(scope, r))
      refusal{c.name}(6, {quoted(scope[r]), " reads more than ", quoted(scope[writer]),
                          " has written before it"});
}

/// What the consumers read of the buffer lies within what the copy holds of it.
inline void check_read_boxes(const call& c, const block_scope& scope, std::size_t writer,
                             const ir::buffer_region& region,
                             const std::vector<std::size_t>& direct, const plan& p) {
  for (const std::size_t r : direct)
    for (const ir::buffer_region& in : scope[r].block().reads) {
      if (in.buffer != region.buffer) continue;
      if (!may_overlap(scope[writer].block(), region, scope[r].block(), in))
        refusal{c.name}(
            6, {quoted(scope[r]), " reads what ", quoted(scope[writer]), " does not write"});
      const std::vector<bounds> box = constant_box(scope[r].block(), in);
      for (std::size_t d = 0; d < box.size(); ++d)
        if (box[d].lo < p.box[d].lo || box[d].hi > p.box[d].hi)
          refusal{c.name}(
              6, {quoted(scope[r]), " reads beyond what ", quoted(scope[writer]), " writes"});
    }
}

inline new_block write(const ir::function& f, std::uint64_t id, int index,
                       const std::string& storage, const std::vector<std::uint64_t>& ids) {
  const call c{"cache_write", storage};
  const path at = need_block(f, id, c.name);
  const subject s = look_up(c, at, index, false);
  const block_scope scope(*s.holder->block);
  const auto w = scope.position(id);
  for (std::size_t i = 0; i < scope.size(); ++i)
    if (i != w && writes_buffer(scope[i].block(), s.buffer))
      refusal{c.name}(3, {quoted(scope[i]), " writes \"", s.buffer->name, "\" too"});
  if (reads_before(scope[w], s.buffer) && !reads_own_writes(scope[w].block(), s.buffer))
    refusal{c.name}(3, {quoted(scope[w]), " also reads \"", s.buffer->name, "\""});
  const std::vector<std::size_t> direct = pick_consumers(c, 6, scope, ids, s.buffer);
  check_direct(c, f, scope, w, direct, s.buffer);
  place where{static_cast<int>(w), depth_of_copy(c, scope, w, s.buffer, direct)};
  for (std::size_t r = w + 1; r < scope.size(); ++r)
    if (consumes(scope[r].block(), scope[w].block()) && !support::contains(direct, r) &&
        scope.common_loops(w, r) == where.depth)
      where.before.push_back(scope[r].block().id);
  where.at_end = where.before.empty();
  const standing_loops standing{where.depth, {}};
  const ir::buffer_region& region = scope[w].block().writes[static_cast<std::size_t>(index)];
  const auto parts =
      std::count_if(scope[w].block().writes.begin(), scope[w].block().writes.end(),
                    [&](const ir::buffer_region& part) { return part.buffer == s.buffer; });
  std::optional<footprint> all;
  if (parts == 1 && reduction_done(scope[w], standing)) all = written({scope[w], region}, standing);
  if (!all)
    refusal{c.name}(5, {"what ", quoted(scope[w]), " writes of \"", s.buffer->name,
                        "\" is no box, or not finished where the copy would stand"});
  check_sizes(c, 5, scope[w], s.buffer, *all);
  const plan p = make_plan(c, f, find_block(f, s.holder->block->id), s.buffer, std::move(*all),
                           where.depth == 0);
  check_read_boxes(c, scope, w, region, direct, p);
  new_block out;
  const ir::stmt nest = copy_nest(p, false, scope[w].loops, out.block);
  if (!nest) refusal{c.name}(5, {"nothing of \"", s.buffer->name, "\" is written"});
  out.function = redirect(f, id, p);
  for (const std::size_t r : direct) out.function = redirect(out.function, scope[r].block().id, p);
  out.function = insert(out.function, s.holder->block->id, scope, where, p.cache, nest);
  check_closed(c, 5, out);
  std::vector<std::uint64_t> listed;
  for (const std::size_t r : direct) listed.push_back(scope[r].block().id);
  check_consumers(c, out.function, s.holder->block->id, listed);
  return out;
}

}  // namespace detail::cache_stage

TILEWRIGHT_INLINE new_block cache_read(const ir::function& f, std::uint64_t block, int read_index,
                                       const std::string& scope,
                                       const std::vector<std::uint64_t>& consumers) {
  return detail::cache_stage::read(f, block, read_index, scope, consumers);
}

TILEWRIGHT_INLINE new_block cache_write(const ir::function& f, std::uint64_t block, int write_index,
                                        const std::string& scope,
                                        const std::vector<std::uint64_t>& consumers) {
  return detail::cache_stage::write(f, block, write_index, scope, consumers);
}

}  // namespace tilewright::primitive
