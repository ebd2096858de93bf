#pragma once

#include <algorithm>
#include <string>

#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/analysis.hpp>
#include <tilewright/schedule/infer_domain.hpp>
#include <tilewright/schedule/primitive/cache.hpp>

namespace tilewright::primitive {
namespace detail::caching {

using arith::bounds;

struct call {
  const char* name;
  const std::string& storage;
};

[[noreturn]] inline void refuse(const call& c, int requirement, const std::string& what) {
  throw schedule_error(c.name, requirement, what);
}

inline std::string quoted(const ir::block_node& b) { return "block \"" + b.name + "\""; }

/// Uses the cache instead of a buffer, whose place `offset` is the cache's place 0.
struct redirection : ir::mutator {
  ir::buffer from, to;
  std::vector<std::int64_t> offset;  // [rank]; empty: all 0

  using ir::mutator::mutate;
  ir::expr shifted(const ir::expr& index, std::size_t d) const {
    if (offset.empty() || offset[d] == 0) return index;
    arith::linear sum = arith::to_linear(index);
    sum.constant -= offset[d];
    return arith::from_linear(sum);
  }
  ir::expr mutate(const ir::expr& e) override {
    if (e->op == ir::op::data && e->buffer == from) return ir::data(to);
    if (e->op != ir::op::load || e->buffer != from) return ir::mutator::mutate(e);
    std::vector<ir::expr> indices;
    for (std::size_t d = 0; d < e->args.size(); ++d)
      indices.push_back(shifted(mutate(e->args[d]), d));
    return ir::load(to, std::move(indices));
  }
  ir::stmt mutate(const ir::stmt& s) override {
    const ir::store_node* store = ir::as_store(s);
    if (!store || store->buffer != from) return ir::mutator::mutate(s);
    std::vector<ir::expr> indices;
    for (std::size_t d = 0; d < store->indices.size(); ++d)
      indices.push_back(shifted(mutate(store->indices[d]), d));
    return ir::make_store(to, std::move(indices), mutate(store->value));
  }
  ir::block mutate(const ir::block& b) override {
    ir::block_node out = *b;
    if (b->init) out.init = mutate(b->init);
    out.body = mutate(b->body);
    const auto redirect = [&](ir::buffer_region& r) {
      if (r.buffer != from) return;
      r.buffer = to;
      for (std::size_t d = 0; d < r.box.size(); ++d) r.box[d].min = shifted(r.box[d].min, d);
    };
    for (ir::buffer_region& r : out.reads) redirect(r);
    for (ir::buffer_region& r : out.writes) redirect(r);
    for (ir::match_buffer& m : out.match_buffers) redirect(m.source);
    return ir::make_block(std::move(out));
  }
};

/// Where the copy goes: in the body of the innermost of the first `depth` loops around `anchor`,
/// after the statement that holds it; without anchor first in the scope.
struct place {
  int anchor = -1;
  std::size_t depth = 0;
};

/// A cache for `original` and how the copy runs over it.
struct plan {
  ir::buffer original, cache;
  std::vector<bounds> box;  // part of the original that the cache holds, where that is constant
  std::vector<std::int64_t> offset;
  footprint needed;  // per iteration of the loops at the place
};

inline bool name_taken(const ir::stmt& body, const std::string& name) {
  bool taken = false;
  ir::for_each_stmt(body, [&](const ir::stmt& s) {
    const ir::block_realize_node* r = ir::as_realize(s);
    if (!r) return;
    taken = taken || r->block->name == name;
    for (const ir::buffer& b : r->block->alloc_buffers) taken = taken || b->name == name;
  });
  return taken;
}

inline std::string cache_name(const ir::function& f, const ir::buffer& b,
                              const std::string& storage) {
  std::string base = b->name + "_" + storage;
  std::replace(base.begin(), base.end(), '.', '_');
  std::string name = base;
  for (int n = 1; name_taken(f.body, name); ++n) name = base + "_" + std::to_string(n);
  return name;
}

/// Shape of the cache: the constant box at the scope's top, else the shape of the buffer.
inline plan make_plan(const call& c, const ir::function& f, const ir::buffer& original,
                      footprint needed, bool compact) {
  plan out;
  out.original = original;
  std::vector<ir::expr> shape = original->shape;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const bounds whole = constant_range({ir::integer(shape[d].type(), 0), shape[d]});
    const bounds part = meet(needed[d].within, whole);
    const bool smaller = compact && part.bounded() && part.lo <= part.hi && !(part == whole);
    out.box.push_back(smaller ? part : whole);
    out.offset.push_back(smaller ? part.lo : 0);
    if (smaller) shape[d] = ir::integer(shape[d].type(), part.hi - part.lo + 1);
  }
  out.cache = ir::make_buffer(cache_name(f, original, c.storage), original->type, std::move(shape),
                              c.storage);
  out.needed = std::move(needed);
  return out;
}

/// The nest that copies between the buffer and its cache.
inline ir::stmt copy_nest(const plan& p, bool into_cache,
                          const std::vector<const ir::loop_node*>& loops, std::uint64_t& id) {
  const std::size_t rank = p.original->shape.size();
  ir::block_node block;
  block.name = p.cache->name;
  std::vector<ir::expr> here, there;
  std::vector<iter_domain> solved(rank);
  std::vector<bounds> clip(rank);
  for (std::size_t d = 0; d < rank; ++d) {
    const dtype type = p.original->shape[d].type();
    ir::var v = ir::make_var(std::string("v").append(std::to_string(d)), type);
    block.iters.push_back({v, {ir::integer(type, 0), p.cache->shape[d]}, ir::iter_kind::spatial});
    clip[d] = constant_range(block.iters.back().dom);
    here.push_back(v);
    there.push_back(v + ir::integer(type, p.offset[d]));
    if (p.needed[d].lo && p.needed[d].hi &&
        !(p.needed[d].lo->is_constant() && p.needed[d].hi->is_constant())) {
      solved[d] = {p.needed[d].lo, p.needed[d].hi, std::nullopt};
      solved[d].lo->constant -= p.offset[d];
      solved[d].hi->constant -= p.offset[d];
    }
    if (!p.offset[d]) clip[d] = meet(clip[d], p.needed[d].within);
  }
  const ir::buffer& from = into_cache ? p.original : p.cache;
  const ir::buffer& to = into_cache ? p.cache : p.original;
  const std::vector<ir::expr>& at_from = into_cache ? there : here;
  const std::vector<ir::expr>& at_to = into_cache ? here : there;
  block.reads.push_back({from, ir::point_box(at_from)});
  block.writes.push_back({to, ir::point_box(at_to)});
  block.body = ir::make_store(to, at_to, ir::load(from, at_from));
  const ir::block made = ir::make_block(std::move(block));
  id = made->id;
  return make_nest(made, solved, clip, loops, true);
}

/// Adds the buffer and the copy to the scope.
inline ir::function insert(const ir::function& f, std::uint64_t holder, const block_scope& scope,
                           place where, const ir::buffer& cache, const ir::stmt& nest) {
  const path at = find_block(f, holder);
  ir::block_node block = *ir::as_realize(at.target())->block;
  block.alloc_buffers.push_back(cache);
  const std::uint64_t anchor =
      where.anchor < 0 ? 0 : scope[static_cast<std::size_t>(where.anchor)].block().id;
  const auto with_copy = [&](const ir::stmt& body) {
    std::vector<ir::stmt> items =
        ir::as_seq(body) ? ir::as_seq(body)->stmts : std::vector<ir::stmt>{body};
    std::size_t position = 0;
    for (std::size_t i = 0; i < items.size() && anchor; ++i)
      if (holds_block(items[i], anchor)) position = i + 1;
    items.insert(items.begin() + static_cast<std::ptrdiff_t>(position), nest);
    return ir::make_seq(std::move(items));
  };
  if (where.depth == 0) block.body = with_copy(block.body);
  ir::function out = replace_block(f, at, ir::make_block(std::move(block)));
  if (where.depth == 0) return out;
  const ir::loop_node& around =
      *scope[static_cast<std::size_t>(where.anchor)].loops[where.depth - 1];
  const path loop = find_loop(out, around.var);
  const ir::loop_node& now = *ir::as_loop(loop.target());
  return replace(out, loop, ir::with_body(now, with_copy(now.body)));
}

inline ir::function redirect(ir::function f, std::uint64_t block, const plan& p) {
  redirection r;
  r.from = p.original;
  r.to = p.cache;
  r.offset = p.offset;
  const path at = find_block(f, block);
  return replace_block(f, at, r.mutate(ir::as_realize(at.target())->block));
}

inline bool reads_buffer(const ir::block_node& b, const ir::buffer& x) {
  return std::any_of(b.reads.begin(), b.reads.end(), [&](const auto& r) { return r.buffer == x; });
}
inline bool writes_buffer(const ir::block_node& b, const ir::buffer& x) {
  return std::any_of(b.writes.begin(), b.writes.end(),
                     [&](const auto& r) { return r.buffer == x; });
}

/// Scope of the block and its position in it, after the checks that both primitives make.
struct subject {
  const ir::block_realize_node* holder;
  ir::buffer buffer;
};

inline subject look_up(const call& c, const path& at, int index, bool read) {
  const ir::block_realize_node* holder = at.scope();
  if (!holder) refuse(c, 1, "the root block accesses nothing itself");
  const ir::block_node& b = *ir::as_realize(at.target())->block;
  const std::vector<ir::buffer_region>& list = read ? b.reads : b.writes;
  if (index < 0 || static_cast<std::size_t>(index) >= list.size())
    refuse(c, 1,
           quoted(b) + " has " + std::to_string(list.size()) + (read ? " read" : " write") +
               " regions; there is no number " + std::to_string(index));
  if (storage_rank(c.storage) < 0 || c.storage.empty())
    refuse(c, 2,
           "there is no storage scope \"" + c.storage +
               "\"; choose global, local, shared, shared.dyn or warp");
  return {holder, list[static_cast<std::size_t>(index)].buffer};
}

/// Positions of the listed blocks; all readers when the list is empty and `all` is set.
inline std::vector<std::size_t> pick_consumers(const call& c, int requirement,
                                               const block_scope& scope,
                                               const std::vector<std::uint64_t>& ids,
                                               const ir::buffer& x) {
  std::vector<std::size_t> out;
  for (const std::uint64_t id : ids) {
    const int at = scope.find(id);
    if (at < 0 || !reads_buffer(scope[static_cast<std::size_t>(at)].block(), x))
      refuse(c, requirement,
             "a listed consumer does not read \"" + x->name + "\" in the scope of the block");
    out.push_back(static_cast<std::size_t>(at));
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

/// Everything the blocks touch of a buffer while the first `fixed` loops stand still.
inline footprint united(const block_scope& scope, const std::vector<std::size_t>& list,
                        const ir::buffer& x, std::size_t fixed) {
  std::vector<requirement> all;
  for (const std::size_t i : list) {
    const bound_iters& iters = bind_iters(scope[i]);
    for (const ir::buffer_region& r : scope[i].block().reads)
      if (r.buffer == x)
        add_requirement(all, x, touched(scope[i], iters, r, {fixed, {}}), scope[i].loops);
  }
  return std::move(all.front().box);
}

/// The place of a cache_read's copy: after the writer, as deep as the readers that share loops with
/// it.
inline place place_after(const call& c, const block_scope& scope, int writer,
                         const std::vector<std::size_t>& readers, bool& one_depth) {
  one_depth = true;
  if (writer < 0) return {};
  const auto w = static_cast<std::size_t>(writer);
  place out{writer, 0};
  const bool all_before = std::all_of(readers.begin(), readers.end(), [&](std::size_t r) {
    return r < w && scope.common_loops(r, w) == 0;
  });
  if (all_before) return {};
  for (const std::size_t r : readers) {
    if (r < w || !region_covered(scope, r))
      refuse(c, 4,
             "what " + quoted(scope[r].block()) + " reads is not all written by " +
                 quoted(scope[w].block()) + " before it");
    const std::size_t common = scope.common_loops(w, r);
    one_depth = one_depth && (r == readers.front() || common == out.depth);
    out.depth = std::max(out.depth, common);
  }
  return out;
}

inline new_block read(const ir::function& f, std::uint64_t id, int index,
                      const std::string& storage, const std::vector<std::uint64_t>& ids) {
  const call c{"cache_read", storage};
  const path at = need_block(f, id, c.name);
  const subject s = look_up(c, at, index, true);
  const block_scope scope(*s.holder->block);
  std::vector<std::size_t> readers = pick_consumers(c, 5, scope, ids, s.buffer);
  int writer = -1;
  for (std::size_t i = 0; i < scope.size(); ++i) {
    if (writes_buffer(scope[i].block(), s.buffer)) {
      if (writer >= 0)
        refuse(c, 3,
               quoted(scope[static_cast<std::size_t>(writer)].block()) + " and " +
                   quoted(scope[i].block()) + " both write \"" + s.buffer->name + "\"");
      writer = static_cast<int>(i);
    }
    if (ids.empty() && reads_buffer(scope[i].block(), s.buffer)) readers.push_back(i);
  }
  for (const std::size_t r : readers)
    if (static_cast<int>(r) == writer)
      refuse(c, 3, quoted(scope[r].block()) + " writes \"" + s.buffer->name + "\" too");
  bool one_depth = true;
  const place where = place_after(c, scope, writer, readers, one_depth);
  std::vector<const ir::loop_node*> loops;
  footprint needed;
  if (one_depth) {
    needed = united(scope, readers, s.buffer, where.depth);
    loops = scope[readers.front()].loops;
  } else {  // readers further out need all that was written
    const child_block& w = scope[static_cast<std::size_t>(writer)];
    loops = w.loops;
    const bound_iters& iters = bind_iters(w);
    std::optional<footprint> all;
    for (const ir::buffer_region& r : w.block().writes)
      if (r.buffer == s.buffer) all = written(w, iters, r, {where.depth, {}});
    if (!all)
      refuse(c, 4,
             "what " + quoted(w.block()) + " writes per iteration of the common loops is no box");
    needed = std::move(*all);
  }
  const plan p = make_plan(c, f, s.buffer, std::move(needed), where.depth == 0);
  new_block out;
  const ir::stmt nest = copy_nest(p, true, loops, out.block);
  if (!nest) refuse(c, 4, "nothing of \"" + s.buffer->name + "\" is read");
  out.function = f;
  for (const std::size_t r : readers) out.function = redirect(out.function, scope[r].block().id, p);
  out.function = insert(out.function, s.holder->block->id, scope, where, p.cache, nest);
  return out;
}

/// Depth of a cache_write's copy, and the checks of readers.
inline std::size_t depth_of_copy(const call& c, const block_scope& scope, std::size_t w,
                                 const ir::buffer& x, const std::vector<std::size_t>& direct) {
  std::size_t depth = 0;
  for (std::size_t r = 0; r < scope.size(); ++r) {
    if (r == w || !reads_buffer(scope[r].block(), x)) continue;
    const std::size_t common = scope.common_loops(w, r);
    if (r < w && common > 0)
      refuse(c, 4,
             quoted(scope[r].block()) + " reads \"" + x->name + "\" before " +
                 quoted(scope[w].block()) + " in a common loop");
    if (r > w && std::find(direct.begin(), direct.end(), r) == direct.end())
      depth = std::max(depth, common);
  }
  return depth;
}

inline new_block write(const ir::function& f, std::uint64_t id, int index,
                       const std::string& storage, const std::vector<std::uint64_t>& ids) {
  const call c{"cache_write", storage};
  const path at = need_block(f, id, c.name);
  const subject s = look_up(c, at, index, false);
  const block_scope scope(*s.holder->block);
  const auto w = static_cast<std::size_t>(scope.find(id));
  for (std::size_t i = 0; i < scope.size(); ++i)
    if (i != w && writes_buffer(scope[i].block(), s.buffer))
      refuse(c, 3, quoted(scope[i].block()) + " writes \"" + s.buffer->name + "\" too");
  if (reads_buffer(scope[w].block(), s.buffer))
    refuse(c, 3, quoted(scope[w].block()) + " also reads \"" + s.buffer->name + "\"");
  const std::vector<std::size_t> direct = pick_consumers(c, 6, scope, ids, s.buffer);
  for (const std::size_t r : direct)
    if (r < w || !region_covered(scope, r))
      refuse(c, 6,
             quoted(scope[r].block()) + " reads more than " + quoted(scope[w].block()) +
                 " has written before it");
  const place where{static_cast<int>(w), depth_of_copy(c, scope, w, s.buffer, direct)};
  const standing_loops standing{where.depth, {}};
  const bound_iters& iters = bind_iters(scope[w]);
  const ir::buffer_region& region = scope[w].block().writes[static_cast<std::size_t>(index)];
  std::optional<footprint> all;
  if (reduction_done(scope[w], standing)) all = written(scope[w], iters, region, standing);
  if (!all)
    refuse(c, 5,
           "what " + quoted(scope[w].block()) + " writes of \"" + s.buffer->name +
               "\" is no box, or not finished where the copy would stand");
  const plan p = make_plan(c, f, s.buffer, std::move(*all), where.depth == 0);
  for (const std::size_t r : direct)
    for (const ir::buffer_region& in : scope[r].block().reads) {
      if (in.buffer != s.buffer) continue;
      const std::vector<bounds> box = constant_box(scope[r].block(), in);
      for (std::size_t d = 0; d < box.size(); ++d)
        if (box[d].lo < p.box[d].lo || box[d].hi > p.box[d].hi)
          refuse(c, 6,
                 quoted(scope[r].block()) + " reads beyond what " + quoted(scope[w].block()) +
                     " writes");
    }
  new_block out;
  const ir::stmt nest = copy_nest(p, false, scope[w].loops, out.block);
  if (!nest) refuse(c, 5, "nothing of \"" + s.buffer->name + "\" is written");
  out.function = redirect(f, id, p);
  for (const std::size_t r : direct) out.function = redirect(out.function, scope[r].block().id, p);
  out.function = insert(out.function, s.holder->block->id, scope, where, p.cache, nest);
  return out;
}

}  // namespace detail::caching

TILEWRIGHT_INLINE new_block cache_read(const ir::function& f, std::uint64_t block, int read_index,
                                       const std::string& scope,
                                       const std::vector<std::uint64_t>& consumers) {
  return detail::caching::read(f, block, read_index, scope, consumers);
}

TILEWRIGHT_INLINE new_block cache_write(const ir::function& f, std::uint64_t block, int write_index,
                                        const std::string& scope,
                                        const std::vector<std::uint64_t>& consumers) {
  return detail::caching::write(f, block, write_index, scope, consumers);
}

}  // namespace tilewright::primitive
