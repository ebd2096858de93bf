#pragma once

#include <string>
#include <utility>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/dependence/cover/footprint.hpp>
#include <tilewright/impl/dependence/cover/point_access.hpp>
#include <tilewright/impl/dependence/ragged_nest.hpp>
#include <tilewright/impl/schedule/analysis/reducer.hpp>
#include <tilewright/impl/schedule/analysis/reduction_form.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/analysis/threads.hpp>
#include <tilewright/impl/schedule/legality/scoped_block.hpp>
#include <tilewright/impl/schedule/rewrite/block_names.hpp>
#include <tilewright/ir/analysis/declared.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/substitution.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/primitive/reductions/rfactor.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive {
namespace detail::factoring {

inline constexpr refusal refuse{"rfactor"};

/// Everything the two new blocks are made of.
struct plan {
  const child_block* child = nullptr;
  std::size_t loop = 0;               // position among the loops of the child
  std::vector<char> spatial, reduce;  // [loops] what they drive
  reduction_form form;
  matched_reducer reducer;
  std::size_t axis = 0;
  std::vector<ir::buffer> partial;  // [values]

  const ir::loop_node& rf_loop() const { return *child->loops[loop]; }
  /// The loop disappears around the original block.
  bool drops(std::size_t l) const { return l != loop && reduce[l]; }
  loop_nest dropped() const {
    loop_nest out;
    for (std::size_t l = 0; l < child->loops.size(); ++l)
      if (drops(l)) out.push_back(child->loops[l]);
    return out;
  }
};

inline void find_kinds(plan& p) {
  const child_block& c = *p.child;
  p.spatial.assign(c.loops.size(), 0);
  p.reduce.assign(c.loops.size(), 0);
  for (std::size_t l = 0; l < c.loops.size(); ++l)
    for (std::size_t i = 0; i < c.realize->values.size(); ++i)
      if (ir::uses_var(c.realize->values[i], c.loops[l]->var))
        (c.block().iters[i].kind == ir::iter_kind::spatial ? p.spatial : p.reduce)[l] = 1;
}

inline void check_block(const block_scope& scope, std::size_t child, const ir::loop_node& loop) {
  const ir::block_node& b = scope[child].block();
  if (loop.loop != ir::loop_kind::serial) refuse(1, {quoted(loop), " is not serial"});
  if (!ir::is_int(loop.min, 0)) refuse(1, {quoted(loop), " does not start at 0"});
  check_reduction(refuse, 1, scope, child, guards::terms);
  if (const int hazard = input_hazard(scope, child))
    refuse(1, {quoted(b), " cannot be computed earlier: ", hazard_text(hazard)});
  if (const int reader = early_reader(scope, child); reader >= 0)
    refuse(1,
           {quoted(scope[reader]), " reads parts of the sum of ", quoted(b), " in a common loop"});
}

inline std::size_t blocks_below(const block_scope& scope, const ir::loop_node& loop) {
  std::size_t n = 0;
  for (const child_block& c : scope.children()) n += support::contains(c.loops, &loop);
  return n;
}

inline void check_loops(const block_scope& scope, std::size_t child, const plan& p) {
  const child_block& c = *p.child;
  const ir::loop_node& loop = p.rf_loop();
  for (std::size_t l = 0; l < c.loops.size(); ++l)
    if (p.spatial[l] && p.reduce[l])
      refuse(2, {quoted(*c.loops[l]), " drives both spatial and reduce variables of ", quoted(c)});
  if (p.spatial[p.loop]) refuse(2, {quoted(loop), " drives a spatial variable of ", quoted(c)});
  if (!p.reduce[p.loop] && !ir::is_int(loop.extent, 1))
    refuse(2, {quoted(loop), " drives no variable of ", quoted(c)});
  if (child > 0 && scope.common_loops(child - 1, child) > 0)
    refuse(3, {quoted(scope[child - 1]), " comes before ", quoted(c), " in their common loop"});
  bool below = false;
  for (std::size_t l = 0; l < c.loops.size(); ++l) {
    if (p.reduce[l] && !below) {
      below = true;
      if (blocks_below(scope, *c.loops[l]) != 1)
        refuse(3, {quoted(*c.loops[l]), " holds other blocks besides ", quoted(c)});
    }
    if (below && !p.reduce[l] && !p.spatial[l] && !ir::is_int(c.loops[l]->extent, 1))
      refuse(3, {quoted(*c.loops[l]), " below the reduction drives no variable of ", quoted(c)});
  }
  const ir::var_set dropped = variables_of(p.dropped());
  if (ir::uses_any(loop.extent, variables_of(c.loops)) || ir::reads_memory(loop.extent))
    refuse(8, {"the extent of ", quoted(loop), " is not constant"});
  for (std::size_t l = 0; l < c.loops.size(); ++l) {
    if (p.drops(l) && may_be_empty(*c.loops[l], c))
      refuse(8, {quoted(*c.loops[l]),
                 " may have no iteration, and then no partial result is started"});
    if (!p.drops(l) && bounds_use(*c.loops[l], dropped))
      refuse(8, {"the bounds of ", quoted(*c.loops[l]), " follow a loop of the reduction"});
  }
}

/// The part of the predicate that says which results exist; the rest only cuts the reduction, and
/// must leave its first instance.
inline ir::expr result_predicate(const plan& p) {
  const child_block& c = *p.child;
  const loop_nest loops = p.dropped();
  const ir::var_set dropped = variables_of(loops);
  arith::analyzer known = knowing(c.loops);
  ir::expr kept = ir::boolean(true);
  std::vector<ir::expr> cuts;
  bool cuts_partial = false;
  for (const ir::expr& conjunct : ir::conjuncts(c.realize->predicate)) {
    if (ir::uses_any(conjunct, dropped)) {
      cuts.push_back(conjunct);
    } else {
      kept = ir::logical_and(kept, conjunct);
      known.assume(conjunct);
      cuts_partial = cuts_partial || ir::uses_var(conjunct, p.rf_loop().var);
    }
  }
  if (cuts_partial && !init_comes_first(*p.child))
    refuse(7, {"the guard of ", quoted(c), " leaves the first partial result along ",
               quoted(p.rf_loop()), " out"});
  for (const ir::expr& cut : cuts)
    if (!known.prove(ir::substitute(cut, first_iterations(loops))))
      refuse(7, {"the guard of ", quoted(c), " leaves partial results along ", quoted(p.rf_loop()),
                 " without a first instance"});
  return kept;
}

inline std::size_t checked_axis(const reduction_form& form, int axis) {
  const int rank = static_cast<int>(form.stores[0]->buffer->shape.size());
  if (axis < -(rank + 1) || axis > rank)
    refuse(6, {"factor_axis ", axis, " is not in [", -(rank + 1), ", ", rank, "]"});
  return static_cast<std::size_t>(axis < 0 ? axis + rank + 1 : axis);
}

inline std::vector<ir::buffer> partial_buffers(const plan& p) {
  std::vector<ir::buffer> out;
  for (const ir::store_node* s : p.form.stores) {
    auto* node = new ir::buffer_node(*s->buffer);
    out.emplace_back(node);
    node->name += ".rf";
    node->shape.insert(node->shape.begin() + static_cast<std::ptrdiff_t>(p.axis),
                       p.rf_loop().extent);
    node->strides.clear();
    node->elem_offset = {};
  }
  return out;
}

inline std::vector<ir::expr> partial_indices(const plan& p, const ir::expr& at) {
  std::vector<ir::expr> out = p.form.stores[0]->indices;
  out.insert(out.begin() + static_cast<std::ptrdiff_t>(p.axis), at);
  return out;
}

inline std::vector<ir::expr> loads(const std::vector<ir::buffer>& from,
                                   const std::vector<ir::expr>& at) {
  std::vector<ir::expr> out;
  for (const ir::buffer& b : from) out.push_back(ir::load(b, at));
  return out;
}

inline std::vector<ir::buffer> results(const plan& p) {
  std::vector<ir::buffer> out;
  for (const ir::store_node* s : p.form.stores) out.push_back(s->buffer);
  return out;
}

inline ir::stmt store_all(const std::vector<ir::buffer>& to, const std::vector<ir::expr>& at,
                          const std::vector<ir::expr>& what) {
  std::vector<ir::stmt> out;
  for (std::size_t i = 0; i < to.size(); ++i) out.push_back(ir::make_store(to[i], at, what[i]));
  return ir::make_seq(std::move(out));
}

/// Several results are combined before the first of them changes.
inline ir::stmt combine_all(const matched_reducer& r, const std::vector<ir::buffer>& to,
                            const std::vector<ir::expr>& at, const std::vector<ir::expr>& right) {
  const std::vector<ir::expr> values = r.found.combine(loads(to, at), right);
  if (values.size() == 1) return ir::make_store(to[0], at, values[0]);
  std::vector<ir::expr> temporaries;
  for (std::size_t i = 0; i < values.size(); ++i)
    temporaries.push_back(ir::make_var("v_" + to[i]->name, values[i].type()));
  ir::stmt out = store_all(to, at, temporaries);
  for (std::size_t i = values.size(); i-- > 0;) out = ir::make_let(temporaries[i], values[i], out);
  return out;
}

/// A block under construction with its bindings.
struct bound_block {
  ir::block_node block;
  std::vector<ir::expr> values;

  void add(ir::iter_var iter, ir::expr value) {
    block.iters.push_back(std::move(iter));
    values.push_back(std::move(value));
  }
};

inline ir::iter_var iter_of(const ir::loop_node& l, ir::iter_kind kind) {
  return {ir::make_var("v" + l.var->name, l.var.type()), {l.min, l.extent}, kind};
}

/// Which iteration variables are taken apart into loops: those of the reduction that use the loop of
/// the factor, and those that share loops with them; one kept would tie two variables to one loop.
inline std::vector<char> taken_apart(const plan& p) {
  const child_block& c = *p.child;
  std::vector<char> out(c.block().iters.size(), 0);
  std::vector<ir::var> loops{p.rf_loop().var};
  for (bool grew = true; std::exchange(grew, false);)
    for (std::size_t i = 0; i < out.size(); ++i) {
      const ir::expr& value = c.realize->values[i];
      if (out[i] || c.block().iters[i].kind == ir::iter_kind::spatial) continue;
      if (support::none(loops, [&](const ir::var& v) { return ir::uses_var(value, v); })) continue;
      out[i] = grew = true;
      for (const ir::var& v : ir::free_vars(value))
        if (loop_index(c.loops, v) >= 0) loops.push_back(v);
    }
  return out;
}

/// Iteration variables of the block of partial results, and what the old ones are in their terms.
inline ir::var_map bind_partial(const plan& p, bound_block& out) {
  const child_block& c = *p.child;
  ir::var_map of_loops, of_iters;
  const ir::iter_var rf = iter_of(p.rf_loop(), ir::iter_kind::spatial);
  of_loops.emplace(p.rf_loop().var, rf.var);
  out.add(rf, p.rf_loop().var);
  const std::vector<char> apart = taken_apart(p);
  for (std::size_t i = 0; i < c.block().iters.size(); ++i) {
    const ir::iter_var& iter = c.block().iters[i];
    const ir::expr& value = c.realize->values[i];
    if (!apart[i]) {
      out.add(iter, value);
      continue;
    }
    for (const ir::var& v : ir::free_vars(value)) {
      const int at = loop_index(c.loops, v);
      if (at < 0 || of_loops.count(v)) continue;
      ir::iter_var made = iter_of(*c.loops[static_cast<std::size_t>(at)], ir::iter_kind::reduce);
      of_loops.emplace(v, made.var);
      out.add(std::move(made), v);
    }
    of_iters.emplace(iter.var, ir::substitute(value, of_loops));
  }
  return of_iters;
}

inline void partial_regions(const plan& p, const ir::var& at, const ir::var_map& map,
                            ir::block_node& out) {
  const ir::block_node& old = p.child->block();
  for (const ir::buffer_region& r : old.reads)
    if (!writes_buffer(old, r.buffer)) out.reads.push_back(ir::substitute(r, map));
  for (const ir::buffer_region& w : old.writes) {
    ir::buffer_region region = ir::substitute(w, map);
    region.box.insert(region.box.begin() + static_cast<std::ptrdiff_t>(p.axis),
                      ir::range{at, ir::integer(at.type(), 1)});
    for (std::size_t i = 0; i < p.partial.size(); ++i)
      if (p.form.stores[i]->buffer == w.buffer) region.buffer = p.partial[i];
    out.writes.push_back(std::move(region));
  }
}

inline ir::stmt make_partial(const plan& p, std::string name, std::uint64_t& id) {
  const child_block& c = *p.child;
  bound_block out;
  const ir::var_map map = bind_partial(p, out);
  const ir::var at = out.block.iters[0].var;
  out.block.name = std::move(name);
  out.block.annotations = c.block().annotations;
  partial_regions(p, at, map, out.block);
  const std::vector<ir::expr> indices = partial_indices(p, at),
                              right = ir::substitute(p.reducer.right, map);
  const bool reduces = support::any(
      out.block.iters, [](const ir::iter_var& i) { return i.kind == ir::iter_kind::reduce; });
  if (reduces) {
    out.block.init = store_all(p.partial, indices, p.reducer.identity);
    out.block.body = combine_all(p.reducer, p.partial, indices, right);
  } else {
    out.block.body = store_all(p.partial, indices, right);
  }
  const ir::var_map renamed = fresh_loops(c.loops);
  for (ir::iter_var& i : out.block.iters) i.dom = ir::substitute(i.dom, renamed);
  const ir::block made = ir::make_block(std::move(out.block));
  id = made->id;
  return nest_around(c.loops, renamed,
                     ir::make_realize(ir::substitute(std::move(out.values), renamed),
                                      ir::substitute(c.realize->predicate, renamed), made));
}

/// The original block, reducing partial results.
inline ir::stmt make_rest(const plan& p, ir::expr predicate) {
  const child_block& c = *p.child;
  bound_block out;
  const ir::iter_var rf = iter_of(p.rf_loop(), ir::iter_kind::reduce);
  out.add(rf, p.rf_loop().var);
  ir::var_map map;
  for (std::size_t i = 0; i < c.block().iters.size(); ++i) {
    ir::iter_var iter = c.block().iters[i];
    if (iter.kind != ir::iter_kind::spatial) continue;
    const ir::var fresh = ir::make_var(iter.var->name, iter.var.type());
    map.emplace(iter.var, fresh);
    iter.var = fresh;
    out.add(std::move(iter), c.realize->values[i]);
  }
  const std::vector<ir::expr> at = ir::substitute(p.form.stores[0]->indices, map),
                              from = ir::substitute(partial_indices(p, rf.var), map);
  for (std::size_t i = 0; i < p.partial.size(); ++i) {
    out.block.reads.push_back({p.partial[i], ir::point_box(from)});
    out.block.writes.push_back({p.form.stores[i]->buffer, ir::point_box(at)});
  }
  for (const ir::expr& e : at)  // an index tensor may place the result
    for (ir::buffer_region& r : point_access::reads_of(e)) out.block.reads.push_back(std::move(r));
  out.block.id = c.block().id;
  out.block.name = c.block().name;
  out.block.annotations = c.block().annotations;
  out.block.init = store_all(results(p), at, p.reducer.identity);
  out.block.body = combine_all(p.reducer, results(p), at, loads(p.partial, from));
  return ir::make_realize(std::move(out.values), std::move(predicate),
                          ir::make_block(std::move(out.block)));
}

/// The statement at slot `first` of `at` with the realize at its end replaced and the dropped loops
/// on the way removed.
inline ir::stmt rebuild(const path& at, std::size_t first, const plan& p, ir::stmt inner) {
  for (std::size_t s = at.slots.size() - 1; s-- > first;) {
    const ir::stmt& parent = *at.slots[s];
    if (const ir::loop_node* loop = ir::as_loop(parent)) {
      const int l = loop_index(p.child->loops, loop->var);
      if (!p.drops(static_cast<std::size_t>(l))) inner = ir::with_body(*loop, std::move(inner));
      continue;
    }
    std::vector<ir::stmt> list = ir::as_seq(parent)->stmts;
    for (ir::stmt& x : list)
      if (&x - list.data() == at.slots[s + 1] - ir::as_seq(parent)->stmts.data()) x = inner;
    inner = ir::make_seq(std::move(list));
  }
  return inner;
}

}  // namespace detail::factoring

TILEWRIGHT_INLINE new_block rfactor(const ir::function& f, const ir::var& loop, int factor_axis) {
  using namespace detail::factoring;
  const path to_loop = need_loop(f, loop, "rfactor");
  const ir::loop_node& rf_loop = *ir::as_loop(to_loop.target());
  const std::vector<const ir::block_realize_node*> below = child_blocks(to_loop.target());
  if (below.size() != 1) refuse(1, {quoted(rf_loop), " holds ", below.size(), " blocks, not one"});
  const path at = find_block(f, below[0]->block->id);
  const scoped_block reduction(at);
  const block_scope& scope = reduction.scope;
  const std::size_t child = reduction.child;
  check_block(scope, child, rf_loop);
  check_sight(refuse, 1, at);

  plan p;
  p.child = &scope[child];
  p.loop = static_cast<std::size_t>(loop_index(p.child->loops, loop));
  find_kinds(p);
  check_loops(scope, child, p);
  const std::string problem = find_reduction_form(p.child->block(), p.form);
  if (!problem.empty()) refuse(4, {quoted(p.child->block()), ": ", problem});
  const std::vector<ir::expr> old = loads(results(p), p.form.stores[0]->indices);
  auto found = match_reducer(p.form.identity, old, p.form.updates);
  if (!found)
    found =
        match_declared_reducer(p.child->block().annotations, p.form.identity, old, p.form.updates);
  if (!found)
    refuse(5, {quoted(p.child->block()), " combines and starts as no known reducer does"});
  p.reducer = std::move(*found);
  for (const ir::expr& e : p.reducer.right)
    for (const ir::buffer& b : results(p))
      if (loads_from(e, b))
        refuse(5, {quoted(p.child->block()), " combines values that depend on its result"});
  for (const ir::buffer& b : results(p))
    if (detail::threads_begin_at(at, *p.child->loops[0], b))
      refuse(9, {"what the threads around ", quoted(p.child->block()), " keep in \"", b->name,
                 "\" ends with them, and partial results beside it would too"});
  p.axis = checked_axis(p.form, factor_axis);
  p.partial = partial_buffers(p);
  ir::expr predicate = result_predicate(p);

  new_block out;
  ir::stmt partial = make_partial(p, fresh_block_name(f, p.child->block().name + "_rf"), out.block);
  std::size_t first = 0;
  while (ir::as_loop(*at.slots[first]) != p.child->loops[0]) ++first;
  ir::stmt rest = rebuild(at, first, p, make_rest(p, std::move(predicate)));
  path outermost = at;
  outermost.slots.resize(first + 1);
  out.function = replace(f, outermost, ir::make_seq({std::move(partial), std::move(rest)}));
  const path holder = find_block(out.function, scope.root().id);
  ir::block_node root = *ir::as_realize(holder.target())->block;
  root.alloc_buffers.insert(root.alloc_buffers.end(), p.partial.begin(), p.partial.end());
  out.function = replace_block(out.function, holder, ir::make_block(std::move(root)));
  return out;
}

}  // namespace tilewright::primitive
