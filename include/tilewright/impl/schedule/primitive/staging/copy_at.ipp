#pragma once

#include <tilewright/impl/dependence/cover/point_access.hpp>
#include <tilewright/impl/dependence/loads.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/impl/schedule/rewrite/cache_stage.hpp>
#include <tilewright/impl/schedule/rewrite/loop_rebinding.hpp>
#include <tilewright/ir/analysis/joint_copy.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/schedule/primitive/staging/copy_at.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/find.hpp>

namespace tilewright::primitive {
namespace detail::copying_at {

using cache_stage::call;

/// What stands directly below a loop, and which of it reads and writes the buffer.
struct loop_body {
  std::vector<ir::stmt> items;
  std::vector<std::size_t> reads, writes;  // positions in `items`
  std::vector<std::size_t> children;       // positions in the scope of the blocks below
};

inline loop_body look_below(const call& c, const block_scope& scope, const ir::loop_node& loop,
                            const ir::buffer& x) {
  loop_body out;
  out.items = statements_of(loop.body);
  const auto note = [](std::vector<std::size_t>& list, std::size_t at) {
    if (list.empty() || list.back() != at) list.push_back(at);
  };
  for (std::size_t i = 0; i < scope.size(); ++i) {
    const ir::block_node& b = scope[i].block();
    if (loop_index(scope[i].loops, loop.var) < 0) continue;
    out.children.push_back(i);
    if (point_access::accesses(scope[i].realize->block, x).opaque)
      refusal{c.name}(3, {quoted(b), " takes the address of \"", x->name, "\""});
    const auto item = static_cast<std::size_t>(
        support::find(out.items, [&](const ir::stmt& s) { return holds_block(s, b.id); }) -
        out.items.begin());
    if (reads_buffer(b, x)) note(out.reads, item);
    if (writes_buffer(b, x)) note(out.writes, item);
  }
  return out;
}

/// The box over all accesses below the loop while it and the loops around it stand still.
/// Sides that lets decide, or loads which a guard may keep inside of their buffers, are not known
/// where the copy stands.
inline std::vector<ir::range> box_of(const block_scope& scope, const loop_body& body,
                                     const ir::buffer& x, standing_loops standing, bool read,
                                     const arith::analyzer& outside) {
  std::vector<requirement> all;
  for (const std::size_t i : body.children) {
    for (const ir::buffer_region& r : read ? scope[i].block().reads : scope[i].block().writes)
      if (r.buffer == x) add_requirement(all, x, touched({scope[i], r}, standing), scope[i].loops);
  }
  const ir::var_set lets = cache_stage::defined_by_lets(scope.root());
  cache_stage::widen(all.front().box, [&](const ir::expr& term) {
    return ir::uses_any(term, lets) || (ir::reads_memory(term) && !loads_inside(term, outside));
  });
  std::vector<ir::range> out;
  for (std::size_t d = 0; d < x->shape.size(); ++d) {
    const ir::expr& whole = x->shape[d];
    const span& s = all.front().box[d];
    const dtype type = whole.type();
    out.push_back({ir::integer(type, 0), whole});
    if (!s.lo || !s.hi) continue;
    const arith::linear count = difference(*s.hi, *s.lo);
    if (!count.is_constant()) continue;
    if (s.lo->is_constant()) {
      const arith::bounds cut = meet({s.lo->constant, s.hi->constant},
                                     meet(s.within, constant_range({ir::integer(type, 0), whole})));
      out.back() = {ir::integer(type, cut.lo), ir::integer(type, cut.hi - cut.lo + 1)};
    } else {
      out.back() = {ir::cast(type, arith::from_linear(*s.lo)),
                    ir::integer(type, count.constant + 1)};
    }
  }
  return out;
}

/// The copy as one block: its variables stand for the loops that the box depends on.
inline ir::stmt copy_statement(const call& c, const std::vector<ir::range>& box,
                               const ir::buffer& from, const ir::buffer& to, const loop_nest& loops,
                               const arith::analyzer& outside, std::string name,
                               std::uint64_t& id) {
  ir::block_node b;
  b.name = std::move(name);
  ir::var_map mine;
  std::vector<ir::expr> values;
  arith::analyzer known = outside;
  for (const ir::range& s : box)
    for (const ir::var& v : ir::free_vars(s.min)) {
      const int l = loop_index(loops, v);
      if (l < 0 || mine.count(v) != 0) continue;
      const ir::loop_node& loop = *loops[static_cast<std::size_t>(l)];
      ir::range dom = domain_of(loop);
      for (const ir::loop_node* around : loops)
        if (bounds_use(dom, around->var)) {
          const arith::bounds all = outside.const_bounds(v);
          if (!all.bounded() || bounds_load(dom))
            refusal{c.name}(6, {"the bounds of loop \"", v->name, "\" depend on other loops"});
          dom = {ir::integer(v.type(), all.lo), ir::integer(v.type(), all.hi - all.lo + 1)};
          break;
        }
      const ir::var own = ir::make_var("v" + std::to_string(mine.size()), v.type());
      b.iters.push_back({own, dom, ir::iter_kind::spatial});
      known.bind(own, dom);
      mine.emplace(v, own);
      values.push_back(v);
    }
  std::vector<ir::expr> at, guard, extents;
  std::vector<ir::var> axes;
  ir::buffer_region read{from, {}}, written{to, {}};
  for (std::size_t d = 0; d < box.size(); ++d) {
    const ir::expr min = ir::substitute(box[d].min, mine);
    axes.push_back(ir::make_var("ax" + std::to_string(d), from->shape[d].type()));
    known.bind(axes.back(), {ir::integer(axes.back().type(), 0), box[d].extent});
    at.push_back(min + axes.back());
    extents.push_back(box[d].extent);
    read.box.push_back({min, box[d].extent});
    const ir::expr& i = at.back();
    const ir::expr zero = ir::integer(i.type(), 0);
    if (!known.prove_le(zero, i)) guard.push_back(ir::ge(i, zero));
    if (!known.prove_lt(i, from->shape[d])) guard.push_back(ir::lt(i, from->shape[d]));
  }
  written.box = read.box;
  b.reads.push_back(std::move(read));
  for (const ir::range& s : box) add_loads(s.min, b.reads);
  b.writes.push_back(std::move(written));
  b.annotations[ir::auto_copy] = 1;
  ir::stmt body = ir::make_store(to, at, ir::load(from, at));
  if (!guard.empty()) body = ir::make_if(ir::conjunction(guard), std::move(body));
  b.body = nest_around(axes, extents, std::move(body));
  const ir::block made = ir::make_block(std::move(b));
  id = made->id;
  return ir::make_realize(std::move(values), ir::boolean(true), made);
}

/// Requirement 5 on the finished program: every block that reads one of the buffers finds it
/// written, and somebody else writes the cache before.
inline void check_written(const call& c, const ir::function& f, std::uint64_t holder,
                          std::uint64_t copy, const ir::buffer& x, const ir::buffer& cache,
                          bool read) {
  const path at = find_block(f, holder);
  const block_scope scope(*ir::as_realize(at.target())->block);
  for (std::size_t i = 0; i < scope.size(); ++i) {
    const ir::block_node& b = scope[i].block();
    // What is copied in holds all that is read below; only the copy itself is in question.
    for (const ir::buffer_region& w : b.writes)
      if (!read && w.buffer == cache && !writes_declared(b, w))
        refusal{c.name}(5,
                        {"it is not certain that ", quoted(b), " writes all that would be copied"});
    const bool from_cache = cache_stage::reads_before(scope[i], cache);
    if (b.id != copy && (read || !from_cache)) continue;
    bool written = !from_cache;
    for (std::size_t w = 0; w < i && !written; ++w)
      written = writes_buffer(scope[w].block(), cache);
    if (!written || !region_covered(scope, i, sums::partial))
      refusal{c.name}(5, {quoted(b), " would read elements of \"", (from_cache ? cache : x)->name,
                          "\" that nothing has written"});
  }
  const path made = find_block(f, copy);
  for (const ir::buffer_region& r : ir::as_realize(made.target())->block->reads)
    if (read && r.buffer == x) cache_stage::check_readable(refusal{c.name}, 5, made, r);
}

/// The cache keeps a sum that iterations of the loop add up; nobody else may change it meanwhile.
inline void check_sums(const call& c, const block_scope& scope, const loop_body& body,
                       const ir::buffer& x, std::size_t fixed) {
  const auto is_below = [&](std::size_t i) { return support::contains(body.children, i); };
  for (const std::size_t i : body.children) {
    const ir::block_node& b = scope[i].block();
    if (!b.init || !writes_buffer(b, x) || reduction_done(scope[i], {fixed, {}})) continue;
    for (std::size_t w = 0; w < scope.size(); ++w)
      if (!is_below(w) && writes_buffer(scope[w].block(), x))
        refusal{c.name}(5, {quoted(scope[w]), " changes the unfinished sums of ", quoted(b)});
  }
}

inline void check_order(const call& c, const loop_body& body, const ir::buffer& x, bool read) {
  const auto& mine = read ? body.reads : body.writes;
  const auto& other = read ? body.writes : body.reads;
  if (mine.empty())
    refusal{c.name}(3, {"the body does not ", (read ? "read" : "write"), " \"", x->name, "\""});
  if (other.empty()) return;
  if (read ? other.back() >= mine.front() : other.back() > mine.back())
    refusal{c.name}(4, {read ? "\"" + x->name + "\" is written after it has been read"
                             : "\"" + x->name + "\" is read after the last write"});
}

/// Where the copy stands is not decided by what blocks below the loop write.
inline void check_places(const call& c, const block_scope& scope, const std::vector<ir::range>& box,
                         const ir::var& loop) {
  std::vector<ir::buffer_region> loaded;
  for (const ir::range& s : box) add_loads(s.min, loaded);
  for (const child_block& b : scope.children())
    if (loop_index(b.loops, loop) >= 0)
      for (const ir::buffer_region& r : loaded)
        if (writes_buffer(b.block(), r.buffer))
          refusal{c.name}(4, {quoted(b.block()), " writes \"", r.buffer->name,
                              "\", which says what would be copied"});
}

inline new_block copy(const ir::function& f, const ir::var& loop, std::uint64_t id, int index,
                      const std::string& storage, bool read) {
  const call c{read ? "read_at" : "write_at", storage};
  const path below = need_loop(f, loop, c.name);
  const path at = need_block(f, id, c.name);
  const cache_stage::subject s = cache_stage::look_up(c, at, index, read);
  const ir::buffer& x = s.buffer;
  const ir::block_realize_node* outer = below.scope();
  if (!outer) refusal{c.name}(1, {"loop \"", loop->name, "\" stands in no block"});
  const std::uint64_t holder_id = outer->block->id;
  const block_scope scope(*outer->block);
  const ir::loop_node& around = *ir::as_loop(below.target());
  loop_body body = look_below(c, scope, around, x);
  check_order(c, body, x, read);
  loop_nest loops = below.loops();
  loops.push_back(&around);
  arith::analyzer outside = known_loops(below).analyzer();
  outside.bind(around.var, domain_of(around));
  const std::vector<ir::range> box = box_of(scope, body, x, {loops.size(), storage}, read, outside);
  check_places(c, scope, box, loop);
  if (!read) check_sums(c, scope, body, x, loops.size());
  const std::string name = x->name + "_" + storage;
  const ir::buffer cache = cache_stage::make_cache(f, x, x->shape, storage, storage);
  new_block out;
  const ir::stmt made = copy_statement(c, box, read ? x : cache, read ? cache : x, loops, outside,
                                       fresh_block_name(f, name), out.block);
  cache_stage::redirection r(x, cache, {}, !read);
  const std::size_t place = read ? body.reads.front() : body.writes.back() + 1;
  for (std::size_t i = read ? place : 0; i < (read ? body.items.size() : place); ++i)
    body.items[i] = r.mutate(body.items[i]);
  body.items.insert(body.items.begin() + static_cast<std::ptrdiff_t>(place), made);
  out.function = replace(f, below, ir::with_body(around, ir::make_seq(std::move(body.items))));
  out.function = cache_stage::allocate_in(out.function, holder_id, cache);
  check_written(c, out.function, holder_id, out.block, x, cache, read);
  check_closed(c, 6, out);
  return out;
}

}  // namespace detail::copying_at

TILEWRIGHT_INLINE new_block read_at(const ir::function& f, const ir::var& loop, std::uint64_t block,
                                    int read_buffer_index, const std::string& storage_scope) {
  return detail::copying_at::copy(f, loop, block, read_buffer_index, storage_scope, true);
}
TILEWRIGHT_INLINE new_block write_at(const ir::function& f, const ir::var& loop,
                                     std::uint64_t block, int write_buffer_index,
                                     const std::string& storage_scope) {
  return detail::copying_at::copy(f, loop, block, write_buffer_index, storage_scope, false);
}

}  // namespace tilewright::primitive
