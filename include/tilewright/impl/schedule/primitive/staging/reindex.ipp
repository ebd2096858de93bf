#pragma once

#include <unordered_set>

#include <tilewright/arith/index_layout.hpp>
#include <tilewright/impl/dependence/cover/conditional_stores.hpp>
#include <tilewright/impl/dependence/cover/point_access.hpp>
#include <tilewright/impl/dependence/ragged_nest.hpp>
#include <tilewright/impl/schedule/analysis/conditional_execution.hpp>
#include <tilewright/impl/schedule/analysis/enclosing_definitions.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/impl/schedule/rewrite/cache_stage.hpp>
#include <tilewright/impl/schedule/rewrite/map_binding.hpp>
#include <tilewright/impl/schedule/rewrite/point_copy.hpp>
#include <tilewright/schedule/primitive/staging/reindex.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive {
namespace detail::reindexing {

inline constexpr refusal refuse{"reindex"};

/// The buffer that is selected, and whether by its reads.
inline std::pair<ir::buffer, bool> select(const ir::block_node& b, const buffer_selector& which) {
  if (which.in != buffer_selector::list::named) {
    const bool read = which.in == buffer_selector::list::read;
    return {block_buffers::region_of("reindex", 2, b, which.index, read).buffer, read};
  }
  for (const bool read : {true, false})
    for (const ir::buffer_region& r : read ? b.reads : b.writes)
      if (r.buffer->name == which.name) return {r.buffer, read};
  refuse(2, {quoted(b), " accesses no buffer \"", which.name, "\""});
}

/// The common indices of all accesses, simplified except where nothing but a number would be left.
inline std::vector<ir::expr> common_indices(const ir::block& b, const ir::buffer& x) {
  const point_access::collector found = point_access::accesses(b, x);
  if (found.opaque || !found.indices || found.differ)
    refuse(3, {quoted(*b),
               (found.opaque   ? " takes the address of \""
                : found.differ ? " accesses several elements of \""
                               : " neither loads nor stores elements of \""),
               x->name, "\""});
  arith::analyzer known;
  std::unordered_set<const ir::expr_node*> inner;
  ir::for_each_stmt(b->body, [&](const ir::stmt& s) {
    if (const ir::loop_node* loop = ir::as_loop(s)) inner.insert(loop->var.get());
    if (const ir::let_node* let = ir::as_let(s)) inner.insert(let->var.get());
  });
  for (const ir::iter_var& v : b->iters) {
    known.bind(v.var, v.dom);
    if (!ir::is_int(v.dom.min, 0))
      refuse(3, {"iteration variable \"", v.var->name, "\" does not start at 0"});
  }
  std::vector<ir::expr> out;
  for (const ir::expr& e : *found.indices) {
    for (const ir::var& v : ir::free_vars(e))
      if (inner.count(v.get()) != 0)
        refuse(3, {quoted(*b), " accesses several elements of \"", x->name, "\""});
    const ir::expr simple = known.simplify(e);
    out.push_back(ir::is_int(simple) ? e : simple);
  }
  return out;
}

/// The copy stands outside of all loops of the block: nobody in them may do to the buffer what
/// would have to come between the two.
inline void check_alone(const block_scope& scope, std::size_t self, const ir::buffer& x,
                        bool read) {
  for (std::size_t i = 0; i < scope.size(); ++i) {
    const ir::block_node& b = scope[i].block();
    if (i == self || scope.common_loops(i, self) == 0) continue;
    if (writes_buffer(b, x) || (!read && reads_buffer(b, x)))
      refuse(4, {quoted(b), " uses \"", x->name, "\" in a loop that it shares with ",
                 quoted(scope[self])});
  }
}

inline void check_read(const block_scope& scope, std::size_t self, const ir::buffer& x,
                       const std::vector<ir::expr>& at) {
  const ir::block_node& b = scope[self].block();
  if (writes_buffer(b, x)) refuse(5, {quoted(b), " writes \"", x->name, "\" too"});
  if (!region_covered(scope, self))
    refuse(5, {"not all that ", quoted(b), " reads is written before it"});
  if (point_access::inside(b, x, at)) return;
  const bool conditional =
      scope[self].conditional || point_access::accesses(scope[self].realize->block, x).conditional;
  if (conditional || !visits_domains(scope[self]))
    refuse(5, {"the copy would read elements of \"", x->name, "\" that ", quoted(b),
               " does not read, perhaps beyond its end"});
}

inline void check_write(const block_scope& scope, std::size_t self, const ir::buffer& x) {
  const ir::block_node& b = scope[self].block();
  if (cache_stage::reads_before(scope[self], x))
    refuse(6, {quoted(b), " reads what was in \"", x->name, "\" before"});
  const bool guarded = !ir::is_true(scope[self].realize->predicate);
  const bool branches = scope[self].conditional || skips_stores(*scope[self].realize->block, x);
  const loop_nest& loops = scope[self].loops;
  const bool skipped =
      support::any(loops, [&](const ir::loop_node* l) { return may_be_empty(*l, scope[self]); });
  // of a domain without an element not the loops need say so, but their guard
  const bool empty = support::any(b.iters, [](const ir::iter_var& v) {
    return ir::is_int(v.dom.extent) && ir::as_int(v.dom.extent) < 1;
  });
  if (branches || skipped || empty || (guarded && !is_affine_binding(scope[self])))
    refuse(6, {quoted(b), " does not run for all values of its iteration variables"});
  if (!writes_once(scope[self]))
    refuse(6, {"several instances of ", quoted(b), " write the same elements"});
}

/// The copy of a result writes the whole domains each time the scope runs: so must the block.
inline void check_whole_in_scope(const path& at) {
  const ir::block_realize_node& realize = *ir::as_realize(at.target());
  const loop_nest inside = at.loops();
  for (const ir::loop_node* l : at.all_loops()) {
    if (support::contains(inside, l)) continue;
    for (const ir::expr& value : realize.values)
      if (ir::uses_var(value, l->var))
        refuse(6, {quoted(*realize.block), " runs for one iteration of \"", l->var->name,
                   "\", a loop outside of its scope, at a time"});
  }
}

/// What the copy reads, indices from index tensors included, is there when it runs, and it finds
/// the indices that the block finds.
inline void check_filled(const ir::function& f, std::uint64_t block, const ir::block_node& copy,
                         const std::vector<ir::expr>& indices, const ir::buffer& cache,
                         int requirement) {
  const scoped_block made(f, copy.id);
  cache_stage::check_filled(refuse, requirement, made.at, cache);
  const int changer =
      point_access::changer_of_places(made.scope, made.scope.position(block), made.child, indices);
  if (changer >= 0)
    refuse(4, {quoted(made.scope[changer]), " changes what the indices are read from"});
}

/// The copy over the whole domains of its variables, one loop each.
inline ir::stmt full_nest(const ir::block& copy) {
  std::vector<ir::var> axes;
  std::vector<ir::expr> extents;
  for (const ir::iter_var& v : copy->iters) {
    axes.push_back(ir::make_var("ax" + std::to_string(axes.size()), v.var.type()));
    extents.push_back(v.dom.extent);
  }
  return nest_around(axes, extents,
                     ir::make_realize({axes.begin(), axes.end()}, ir::boolean(true), copy));
}

inline new_block reindex(const ir::function& f, std::uint64_t id, const buffer_selector& which) {
  const path at = need_block(f, id, "reindex");
  const ir::block& block = ir::as_realize(at.target())->block;
  if (!at.scope() || !all_blocks(block->body).empty())
    refuse(1, {quoted(*block), " holds other blocks"});
  const auto [x, read] = select(*block, which);
  const std::vector<ir::expr> indices = common_indices(block, x);
  const ir::var_set around = defined_around(at);
  for (const ir::expr& e : indices)
    if (ir::uses_any(e, around))
      refuse(3, {quoted(*block), " accesses \"", x->name,
                 "\" at variables around it that are no iteration variables"});
  const scoped_block reindexed(at);
  const block_scope& scope = reindexed.scope;
  const std::size_t self = reindexed.child;
  point_copy::check_domains(refuse, 3, scope, self);
  check_alone(scope, self, x, read);
  point_copy::check_repetition(refuse, 4, at, scope, self);
  point_copy::check_threads(refuse, 4, at, scope[self], 0, x);
  if (read) {
    check_read(scope, self, x, indices);
  } else {
    check_write(scope, self, x);
    check_whole_in_scope(at);
    if (!visits_domains(scope[self]))
      refuse(6, {"it is not certain that ", quoted(*block), " visits all of its domain"});
  }
  point_copy::element e{indices, {}, point_access::iters_of(*block, indices)};
  std::vector<ir::expr> shape;
  std::vector<std::string> names;
  for (const std::size_t i : e.iters) {
    shape.push_back(block->iters[i].dom.extent);
    e.at_cache.push_back(block->iters[i].var);
    names.push_back("v" + std::to_string(names.size()));
  }
  const ir::buffer cache = cache_stage::make_cache(f, x, shape, "reindex", x->scope);
  const ir::block copy =
      point_copy::make(*block, e, names, x, cache, read,
                       fresh_block_name(f, x->name + (read ? "_reindex_reindex" : "_reindex")));
  point_access::replacer r(x, cache, e.at_cache);
  cache_stage::place beside{static_cast<int>(self), 0};
  if (read) beside.before = {id};
  ir::function out = cache_stage::insert(replace_block(f, at, r.mutate(block)), scope.root().id,
                                         scope, beside, cache, full_nest(copy));
  check_filled(out, id, *copy, indices, cache, read ? 5 : 6);
  return {std::move(out), copy->id};
}

}  // namespace detail::reindexing

TILEWRIGHT_INLINE new_block reindex(const ir::function& f, std::uint64_t block,
                                    const buffer_selector& buffer) {
  return detail::reindexing::reindex(f, block, buffer);
}

}  // namespace tilewright::primitive
