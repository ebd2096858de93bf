// reindex_cache_read and reindex_cache_write, declared in reindex.hpp.
#pragma once

#include <tilewright/arith/index_layout.hpp>
#include <tilewright/impl/dependence/cover/conditional_stores.hpp>
#include <tilewright/impl/dependence/cover/point_access.hpp>
#include <tilewright/impl/dependence/ragged_nest.hpp>
#include <tilewright/impl/schedule/analysis/conditional_execution.hpp>
#include <tilewright/impl/schedule/analysis/enclosing_definitions.hpp>
#include <tilewright/impl/schedule/analysis/readable_region.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/impl/schedule/rewrite/cache_stage.hpp>
#include <tilewright/impl/schedule/rewrite/map_binding.hpp>
#include <tilewright/impl/schedule/rewrite/point_copy.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/substitution.hpp>
#include <tilewright/schedule/primitive/staging/reindex.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive {
namespace detail::reindex_caching {

using cache_stage::call;

/// The element that an instance touches, and the shape of its cache.
struct element : point_copy::element {
  std::vector<ir::expr> cache_shape;
};

/// Extent of one result over indices of symbolic extents: of an index, its quotient or its rest.
inline ir::expr extent_of(const ir::expr& e, const ir::index_map& map,
                          const std::vector<ir::expr>& shape) {
  const ir::expr& of = e->args.empty() ? e : e->args[0];
  for (std::size_t i = 0; i < map.inputs.size(); ++i) {
    if (!map.inputs[i].same(of)) continue;
    if (e->args.empty()) return shape[i];
    const ir::expr& by = e->args[1];
    if (!ir::is_int(by) || ir::as_int(by) < 1) return {};
    if (e->op == ir::op::floormod) return by;
    if (e->op == ir::op::floordiv)
      return ir::floordiv(shape[i] + ir::integer(by.type(), ir::as_int(by) - 1), by);
  }
  return {};
}

/// The extents made longer until the results of the map have no gaps: 12 for j to 16 for
/// `i * 16 + j`.
inline std::vector<ir::expr> without_gaps(const ir::index_map& map, std::vector<ir::expr> shape) {
  for (const ir::expr& result : map.outputs) {
    arith::linear sum = arith::to_linear(result);
    std::sort(sum.terms.begin(), sum.terms.end(),
              [](const auto& a, const auto& b) { return a.second < b.second; });
    for (std::size_t t = 0; t + 1 < sum.terms.size(); ++t) {
      const std::int64_t factor = sum.terms[t].second, next = sum.terms[t + 1].second;
      for (std::size_t i = 0; i < map.inputs.size(); ++i)
        if (map.inputs[i].same(sum.terms[t].first) && ir::is_int(shape[i]) && factor > 0 &&
            next % factor == 0 && next / factor > ir::as_int(shape[i]))
          shape[i] = ir::integer(shape[i].type(), next / factor);
    }
  }
  return shape;
}

/// The shape that holds what lies from 0 on in the image of a box under a map with gaps, which is one
/// to one over a larger box; empty for others.
inline std::vector<ir::expr> shape_with_gaps(const ir::index_map& map,
                                             const std::vector<ir::expr>& shape) {
  if (!arith::lay_out(map, without_gaps(map, shape), arith::analyzer()).has_inverse()) return {};
  arith::analyzer known;
  for (std::size_t i = 0; i < map.inputs.size(); ++i)
    known.bind(map.inputs[i], {ir::integer(shape[i].type(), 0), shape[i]});
  std::vector<ir::expr> out;
  for (const ir::expr& result : map.outputs) {
    const arith::bounds b = known.const_bounds(result);
    if (!b.bounded() || b.lo < 0) return {};
    out.push_back(ir::integer(result.type(), b.hi + 1));
  }
  return out;
}

/// The shape that holds the image of a box under a map that is one to one; empty for others. A map
/// is one to one for all extents when it is so for large ones.
inline std::vector<ir::expr> shape_of_cache(const ir::index_map& map,
                                            const std::vector<ir::expr>& shape) {
  const arith::index_layout exact = arith::lay_out(map, shape, arith::analyzer());
  if (exact.has_inverse() && !exact.shape.empty()) return exact.shape;
  if (support::all(shape, [](const ir::expr& e) { return ir::is_int(e); }))
    return shape_with_gaps(map, shape);
  std::vector<ir::expr> large = shape;
  for (ir::expr& e : large)
    if (!ir::is_int(e)) e = ir::integer(e.type(), std::int64_t{1} << 20);
  const arith::index_layout numbers = arith::lay_out(map, large, arith::analyzer());
  if (!numbers.has_inverse() || numbers.shape.empty()) return {};
  std::vector<ir::expr> out;
  for (std::size_t k = 0; k < map.outputs.size(); ++k) {
    bool symbolic = false;
    for (std::size_t i = 0; i < map.inputs.size(); ++i)
      symbolic = symbolic || (!ir::is_int(shape[i]) && ir::uses_var(map.outputs[k], map.inputs[i]));
    out.push_back(symbolic ? extent_of(map.outputs[k], map, shape) : numbers.shape[k]);
    if (!out.back()) return {};
  }
  return out;
}

inline element locate(const call& c, const ir::function& f, const ir::block_node& b,
                      const ir::buffer_region& region, const ir::index_map& given) {
  element out;
  for (const ir::range& r : region.box) {
    if (!ir::is_int(r.extent, 1))
      refusal{c.name}(5, {"an instance of ", quoted(b), " touches more than one element of \"",
                          region.buffer->name, "\""});
    out.at_buffer.push_back(r.min);
  }
  if (given.inputs.size() != b.iters.size())
    refusal{c.name}(6, {"the map takes ", given.inputs.size(), " indices; ", quoted(b), " has ",
                        b.iters.size(), " iteration variables"});
  const dtype type = b.iters.empty() ? dtype::i32 : b.iters[0].var.type();
  ir::index_map map = bind_map(given, f, type);
  std::vector<ir::expr> all;
  for (const ir::iter_var& v : b.iters) all.push_back(v.var);
  out.at_cache = ir::map_indices(map, all);
  out.iters = point_access::iters_of(b, out.at_buffer);
  if (point_access::iters_of(b, out.at_cache) != out.iters)
    refusal{c.name}(6, {"the map and the access to \"", region.buffer->name, "\" in ", quoted(b),
                        " use different iteration variables"});
  std::vector<ir::var> inputs;
  std::vector<ir::expr> shape;
  for (const std::size_t i : out.iters) {
    if (!ir::is_int(b.iters[i].dom.min, 0))
      refusal{c.name}(7, {"the domain of \"", b.iters[i].var->name, "\" does not start at 0"});
    inputs.push_back(map.inputs[i]);
    shape.push_back(b.iters[i].dom.extent);
  }
  map.inputs = std::move(inputs);
  map.inverse.reset();
  out.cache_shape = shape_of_cache(map, shape);
  if (out.cache_shape.empty())
    refusal{c.name}(7, "the map puts several elements into one place, or that cannot be ruled out");
  return out;
}

/// The loops and the part of the guard that some of the bindings depend on.
struct followed_nest {
  loop_nest loops;  // below the place of the copy
  std::vector<ir::expr> guard;
  bool may_be_empty = false;  // the rest of the nest may leave out an element of these
};

/// Whether a part of the guard certainly holds in the first iteration of the loops.
inline bool holds_first(const child_block& child, std::size_t depth, const ir::expr& part) {
  const ir::var_map first = first_iterations(loops_from(child.loops, depth));
  return arith::analyzer().prove(ir::substitute(part, first));
}

inline followed_nest nest_of(const call& c, const child_block& child, std::size_t depth,
                             const std::vector<std::size_t>& iters) {
  std::vector<bool> needed(child.loops.size(), false);
  const auto mark = [&](const ir::expr& e) {
    for (std::size_t l = 0; l < child.loops.size(); ++l)
      if (ir::uses_var(e, child.loops[l]->var)) needed[l] = true;
  };
  for (const std::size_t i : iters) mark(child.realize->values[i]);
  for (std::size_t l = child.loops.size(); l-- > 0;)
    if (needed[l]) {
      mark(child.loops[l]->min);
      mark(child.loops[l]->extent);
    }
  followed_nest out;
  for (std::size_t l = depth; l < child.loops.size(); ++l)
    if (needed[l]) out.loops.push_back(child.loops[l]);
  for (const ir::expr& part : ir::conjuncts(child.realize->predicate)) {
    bool kept = true, dropped = true;
    for (std::size_t l = depth; l < child.loops.size(); ++l)
      if (ir::uses_var(part, child.loops[l]->var)) (needed[l] ? dropped : kept) = false;
    if (!kept && !dropped)
      refusal{c.name}(8, {"the guard of ", quoted(child),
                          " mixes loops that the element depends on with others"});
    if (kept) out.guard.push_back(part);
    if (!kept) out.may_be_empty = out.may_be_empty || !holds_first(child, depth, part);
  }
  for (std::size_t l = depth; l < child.loops.size(); ++l)
    if (!needed[l] && may_be_empty(*child.loops[l], child)) out.may_be_empty = true;
  return out;
}

/// Whether some of the variables may go beyond their domains where only a condition around the block
/// keeps them inside.
inline bool leaves_domains(const child_block& child, const std::vector<std::size_t>& iters) {
  arith::analyzer known = knowing(child.loops);
  return support::any(iters, [&](std::size_t i) {
    const ir::range& dom = child.block().iters[i].dom;
    const ir::expr& value = child.realize->values[i];
    return !known.prove_le(dom.min, value) || !known.prove_lt(value, dom.min + dom.extent);
  });
}

/// The copy has the loops that it follows, and sees nothing else between the scope and the block.
inline void check_seen(const call& c, const path& at, const child_block& child, const element& e,
                       const followed_nest& like) {
  const ir::var_set around = defined_around(at);
  for (const ir::expr& index : e.at_buffer)
    if (ir::uses_any(index, around))
      refusal{c.name}(5,
                      {quoted(child), " uses variables around it that are no iteration variables"});
  ir::var_set lets = around;
  for (const ir::loop_node* l : child.loops) lets.erase(l->var);
  std::vector<ir::expr> used = like.guard;
  for (const std::size_t i : e.iters) used.push_back(child.realize->values[i]);
  for (const ir::loop_node* l : like.loops) used.insert(used.end(), {l->min, l->extent});
  for (const ir::expr& u : used)
    if (ir::uses_any(u, lets))
      refusal{c.name}(8, {"a let around ", quoted(child), " says where it runs"});
}

/// The copy below loops like those of the block.
inline ir::stmt copy_nest(const child_block& child, const followed_nest& like,
                          const std::vector<std::size_t>& iters, const ir::block& copy) {
  const ir::var_map mine = fresh_loops(like.loops);
  std::vector<ir::expr> values;
  for (const std::size_t i : iters)
    values.push_back(ir::substitute(child.realize->values[i], mine));
  ir::stmt out =
      ir::make_realize(std::move(values), ir::conjunction(ir::substitute(like.guard, mine)), copy);
  for (std::size_t l = like.loops.size(); l-- > 0;) {
    const auto [min, extent] = ir::substitute(domain_of(*like.loops[l]), mine);
    out = ir::make_loop(mine.at(like.loops[l]->var), min, extent, std::move(out));
  }
  return out;
}

/// Whether variables of blocks around the scope say which part of a sum an instance adds.
inline bool reduces_outside(const child_block& child, const path& at) {
  const ir::var_set outside = variables_outside(at);
  for (std::size_t i = 0; i < child.realize->values.size(); ++i)
    if (child.block().iters[i].kind == ir::iter_kind::reduce &&
        ir::uses_any(child.realize->values[i], outside))
      return true;
  return false;
}

/// Where the copy stands, after the checks of the dependences.
inline cache_stage::place find_place(const call& c, const path& at, const block_scope& scope,
                                     std::size_t self, const ir::buffer& x, bool read) {
  const int writer = only_writer(c, scope, x);
  const bool in_place =
      read ? writer == static_cast<int>(self)
           : reads_buffer(scope[self].block(), x) || cache_stage::reads_before(scope[self], x);
  if (in_place)
    refusal{c.name}(3, {quoted(scope[self]), " both reads and writes \"", x->name, "\""});
  if (read) {
    bool one_depth = true;
    return cache_stage::place_after(c, scope, writer, {self}, one_depth);
  }
  cache_stage::place out{static_cast<int>(self), cache_stage::depth_of_copy(c, scope, self, x, {})};
  if (!reduction_done(scope[self], {out.depth, {}}) || reduces_outside(scope[self], at))
    refusal{c.name}(
        4, {"the sums of ", quoted(scope[self]), " are not finished where the copy would stand"});
  for (std::size_t r = self + 1; r < scope.size(); ++r)
    if (cache_stage::consumes(scope[r].block(), scope[self].block()) &&
        scope.common_loops(self, r) == out.depth)
      out.before.push_back(scope[r].block().id);
  out.at_end = out.before.empty();
  return out;
}

/// Index tensors: written when the copy reads them, and as the block finds them.
inline void check_places(const call& c, const ir::function& f, std::uint64_t block,
                         std::uint64_t copy, const element& e) {
  const scoped_block made(f, copy);
  const std::size_t self = made.scope.position(block);
  const int changer = point_access::changer_of_places(made.scope, self, made.child, e.at_buffer);
  if (changer >= 0)
    refusal{c.name}(
        5, {quoted(made.scope[changer]), " changes what the indices are read from, between ",
            quoted(made.scope[self]), " and the copy"});
  for (const ir::buffer_region& r : (*made).realize->block->reads)
    for (const ir::expr& index : e.at_buffer)
      if (loads_from(index, r.buffer) && !region_filled(made.at, r))
        refusal{c.name}(
            5, {"the indices in \"", r.buffer->name, "\" are not written where the copy stands"});
}

/// What decides where and how often the copy runs: it is written before, and not changed in between.
inline void check_nest(const call& c, const ir::function& f, std::uint64_t block,
                       std::uint64_t copy, const followed_nest& like, const child_block& child,
                       const std::vector<std::size_t>& iters) {
  std::vector<ir::expr> loading;
  const auto note = [&](const ir::expr& e) {
    if (ir::reads_memory(e)) loading.push_back(e);
  };
  for (const ir::loop_node* l : like.loops) note(l->min), note(l->extent);
  for (const ir::expr& e : like.guard) note(e);
  for (const std::size_t i : iters) note(child.realize->values[i]);
  if (loading.empty()) return;
  const scoped_block made(f, copy);
  const int changer =
      point_access::changer_of_places(made.scope, made.scope.position(block), made.child, loading);
  if (changer >= 0)
    refusal{c.name}(5, {quoted(made.scope[changer]), " changes what says where ", quoted(child),
                        " runs, between it and the copy"});
  for (const ir::expr& e : loading)
    ir::for_each_expr(e, [&](const ir::expr& x) {
      if (x->buffer && !region_filled(made.at, ir::full_region(x->buffer)))
        refusal{c.name}(5, {"what the copy would load from \"", x->buffer->name,
                            "\" is not written where it stands"});
    });
}

inline new_block cache(const ir::function& f, std::uint64_t id, int index, bool read,
                       const std::string& storage, const ir::index_map& map) {
  const call c{read ? "reindex_cache_read" : "reindex_cache_write", storage};
  const path at = need_block(f, id, c.name);
  const cache_stage::subject s = cache_stage::look_up(c, at, index, read);
  const ir::buffer& x = s.buffer;
  const scoped_block reindexed(at);
  const block_scope& scope = reindexed.scope;
  const std::size_t self = reindexed.child;
  const child_block& child = *reindexed;
  const ir::block& block = child.realize->block;
  const refusal refuse{c.name};
  point_copy::check_domains(refuse, 7, scope, self);
  point_copy::check_repetition(refuse, 4, at, scope, self);
  const cache_stage::place where = find_place(c, at, scope, self, x, read);
  point_copy::check_threads(refuse, 4, at, child, where.depth, x);
  const element e = locate(
      c, f, *block, (read ? block->reads : block->writes)[static_cast<std::size_t>(index)], map);
  const followed_nest like = nest_of(c, child, where.depth, e.iters);
  check_seen(c, at, child, e, like);
  if (like.may_be_empty && (!read || !point_access::inside(*block, x, e.at_buffer)))
    refusal{c.name}(8, {"loops or a guard that the element does not depend on may keep ",
                        quoted(*block), " from it, and not the copy"});
  const point_access::collector found = point_access::accesses(block, x);
  if (!read && (skips_stores(*block, x) || child.conditional))
    refusal{c.name}(8, {quoted(*block), " may leave elements of \"", x->name, "\" unwritten"});
  if (found.opaque) refusal{c.name}(5, {quoted(*block), " takes the address of \"", x->name, "\""});
  if (found.differ)
    refusal{c.name}(
        5, {"an instance of ", quoted(*block), " touches several elements of \"", x->name, "\""});
  if (child.conditional && leaves_domains(child, e.iters))
    refusal{c.name}(
        8, {"a condition around ", quoted(*block), " keeps it in its domain, and not the copy"});
  // a block may read less than its regions say, nothing at all
  if (read && (!found.indices || found.conditional || child.conditional) &&
      !point_access::inside(*block, x, e.at_buffer))
    refusal{c.name}(8, {"the copy would read elements of \"", x->name, "\" that ", quoted(*block),
                        " does not read, perhaps beyond its end"});
  const ir::buffer made = cache_stage::make_cache(f, x, e.cache_shape, storage, storage);
  std::vector<std::string> names;
  for (const std::size_t i : e.iters) names.push_back(block->iters[i].var->name);
  const ir::block copy = point_copy::make(*block, e, names, x, made, read,
                                          fresh_block_name(f, x->name + "_" + storage));
  point_access::replacer r(x, made, e.at_cache);
  ir::function out = replace_block(f, at, r.mutate(block));
  out = cache_stage::insert(out, s.holder->block->id, scope, where, made,
                            copy_nest(child, like, e.iters, copy));
  check_places(c, out, id, copy->id, e);
  check_nest(c, out, id, copy->id, like, child, e.iters);
  return {std::move(out), copy->id};
}

}  // namespace detail::reindex_caching

TILEWRIGHT_INLINE new_block reindex_cache_read(const ir::function& f, std::uint64_t block,
                                               int read_buffer_index,
                                               const std::string& storage_scope,
                                               const ir::index_map& index_map) {
  return detail::reindex_caching::cache(f, block, read_buffer_index, true, storage_scope,
                                        index_map);
}
TILEWRIGHT_INLINE new_block reindex_cache_write(const ir::function& f, std::uint64_t block,
                                                int write_buffer_index,
                                                const std::string& storage_scope,
                                                const ir::index_map& index_map) {
  return detail::reindex_caching::cache(f, block, write_buffer_index, false, storage_scope,
                                        index_map);
}

}  // namespace tilewright::primitive
