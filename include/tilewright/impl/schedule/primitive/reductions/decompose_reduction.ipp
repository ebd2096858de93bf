#pragma once

#include <algorithm>
#include <string>

#include <tilewright/arith/region.hpp>
#include <tilewright/impl/dependence/binding/binding_loops.hpp>
#include <tilewright/impl/dependence/binding/element_index.hpp>
#include <tilewright/impl/dependence/cover/footprint.hpp>
#include <tilewright/impl/dependence/ragged_nest.hpp>
#include <tilewright/impl/dependence/scope.hpp>
#include <tilewright/impl/schedule/analysis/conditional_execution.hpp>
#include <tilewright/impl/schedule/analysis/reduction_form.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/legality/first_instance.hpp>
#include <tilewright/impl/schedule/legality/init_placement.hpp>
#include <tilewright/impl/schedule/legality/scoped_block.hpp>
#include <tilewright/ir/analysis/declared.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/substitution.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/primitive/reductions/decompose_reduction.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/find.hpp>

namespace tilewright::primitive {
namespace detail::decomposing {

inline constexpr refusal refuse{"decompose_reduction"};

inline void check(const block_scope& scope, std::size_t child, std::size_t first,
                  const driven_loops& driven) {
  const child_block& c = scope[child];
  const int reason = reduction_violation(scope, child, guards::terms);
  if (reason != 0 && reason != 7)  // which of its results it reads is asked below
    refuse(2, {quoted(c), " is no reduction: ", reduction_reason(reason)});
  for (std::size_t l = 0; l < first; ++l)
    if (!ir::is_int(c.loops[l]->extent, 1) && driven.other[l])
      refuse(3, {quoted(*c.loops[l]), " further out drives the reduction of ", quoted(c)});
  for (std::size_t l = first; l < c.loops.size(); ++l)
    if (!ir::is_int(c.loops[l]->extent, 1) && !driven.any(l))
      refuse(5, {quoted(c), " runs again in each iteration of ", quoted(*c.loops[l])});
  // what leaves out some terms of a result leaves no others out of it
  const unguarded open(c);
  const auto runs = [&](const auto& asked) { return asked(c, first) || asked(open.child, first); };
  if (!runs([](const child_block& b, std::size_t l) { return is_affine_binding(b, l); }))
    refuse(5, {"the bindings of ", quoted(c), " are not affine from the loop inwards"});
  if (!runs(runs_once))
    refuse(5, {quoted(c), " repeats its reduction in loops from \"", c.loops[first]->var->name,
               "\" inwards"});
  for (std::size_t l = 0; l < c.loops.size(); ++l)
    if (c.loops[l]->loop == ir::loop_kind::thread_binding && !ir::is_int(c.loops[l]->extent, 1) &&
        driven.other[l])
      refuse(7, {"threads share the reduction of ", quoted(c), " along ", quoted(*c.loops[l]),
                 ", which they can as long as it has its init"});
  check_no_earlier_user(refuse, 6, scope, child);
}

/// The conjuncts that say something about the init; those about dropped loops alone go.
inline ir::expr init_predicate(const child_block& c, const ir::var_set& dropped,
                               const ir::var_map& renamed) {
  ir::expr out = ir::boolean(true);
  for (const ir::expr& conjunct : ir::conjuncts(c.realize->predicate)) {
    bool drops = false, keeps = false;
    for (const ir::var& v : ir::free_vars(conjunct)) (dropped.count(v) ? drops : keeps) = true;
    if (drops && keeps && holds_always_first(conjunct, c, dropped)) continue;
    if (drops && keeps)
      refuse(4, {"the predicate of ", quoted(c), " mixes loops that the init keeps and drops"});
    if (drops && !holds_first(conjunct, c, dropped))
      refuse(5,
             {"the predicate of ", quoted(c),
              " may leave out the first iteration of loops that the init drops, and then nothing "
              "is initialised"});
    if (!drops) out = ir::logical_and(out, ir::substitute(conjunct, renamed));
  }
  return out;
}

/// The loops and domains of the init do not follow loops that it drops, and these run at least
/// once.
inline void check_bounds(const child_block& c, const loop_nest& kept, const ir::var_set& dropped) {
  const auto check = [&](const ir::range& r, const std::string& what) {
    if (bounds_use(r, dropped))
      refuse(4, {what, " of ", quoted(c), " follows a loop that the init drops"});
  };
  for (const ir::loop_node* l : kept) check(domain_of(*l), "loop \"" + l->var->name + "\"");
  for (const ir::iter_var& v : c.block().iters)
    if (v.kind == ir::iter_kind::spatial) check(v.dom, "the domain of \"" + v.var->name + "\"");
  for (const ir::loop_node* l : c.loops) {
    if (dropped.count(l->var) && may_be_empty(*l, c))
      refuse(5, {quoted(*l), " around ", quoted(c),
                 " may have no iteration, and then nothing is initialised"});
  }
}

/// The init itself follows no loop, for it gets others, and takes nothing of the block with it.
inline void check_body(const child_block& c, std::size_t first) {
  if (const ir::buffer own = own_buffer_of_init(c.block()))
    refuse(4, {"the init of ", quoted(c), " uses \"", own->name,
               "\", which is known in that block alone"});
  ir::for_each_expr(c.block().init, [&](const ir::expr& e) {
    if (ir::is_var(e) && loop_index(c.loops, e) >= static_cast<int>(first))
      refuse(4, {"the init of ", quoted(c), " uses loop \"", e->name,
                 "\" without an iteration variable that stands for it"});
  });
}

/// Blocks below the loop neither write what the init loads nor read what was in the result before.
inline void check_early(const block_scope& scope, std::size_t child, std::size_t first,
                        const decomposed_init& init, bool moves) {
  const child_block& c = scope[child];
  const std::string below = " below loop \"" + c.loops[first]->var->name + "\"";
  for (std::size_t w = 0; w < scope.size(); ++w) {
    if (w == child ? !moves : scope.common_loops(w, child) <= first) continue;
    if (init.loads_from(scope[w].block()))
      refuse(6, {"the init of ", quoted(c), ", or what says where it runs, reads what ",
                 quoted(scope[w]), " writes", below});
  }
  if (const ir::buffer x = read_of_others(c.block()); x && moves)
    refuse(6, {quoted(c), " reads elements of \"", x->name,
               "\" that other instances of it initialise"});
  for (const ir::buffer_region& out : c.block().writes) {
    if (!moves || scope.allocates(out.buffer)) continue;
    ir::block_node root = scope.root();  // as if nothing came from outside
    root.alloc_buffers.push_back(out.buffer);
    const block_scope alone(root);
    for (std::size_t u = child + 1; u < scope.size(); ++u)
      if (scope.common_loops(u, child) > first && !region_covered(alone, u) &&
          reads_buffer(scope[u].block(), out.buffer))
        refuse(6, {quoted(scope[u]), below, " may read elements of \"", out.buffer->name,
                   "\" that a later iteration initialises"});
  }
}

/// The init block and its realize, in terms of the loops in `renamed`.
inline ir::stmt make_init(const child_block& c, ir::expr predicate, const ir::var_map& renamed,
                          std::uint64_t& id) {
  const ir::block_node& block = c.block();
  ir::block_node init;
  init.name = block.name + "_init";
  init.annotations = block.annotations;
  ir::var_map inner;
  std::vector<ir::expr> values;
  init.iters.reserve(block.iters.size());
  values.reserve(block.iters.size());
  for (std::size_t i = 0; i < block.iters.size(); ++i) {
    const ir::iter_var& iter = block.iters[i];
    if (iter.kind != ir::iter_kind::spatial) continue;
    const ir::var fresh = ir::make_var(iter.var->name, iter.var.type());
    inner.emplace(iter.var, fresh);
    init.iters.push_back({fresh, ir::substitute(iter.dom, renamed), iter.kind});
    values.push_back(ir::substitute(c.realize->values[i], renamed));
  }
  init.body = ir::substitute(block.init, inner);
  std::vector<ir::buffer_region> unused;
  arith::access_regions(init.body, init.reads, unused);
  for (const ir::buffer_region& w : block.writes) init.writes.push_back(ir::substitute(w, inner));
  const ir::block made = ir::make_block(std::move(init));
  id = made->id;
  return ir::make_realize(std::move(values), std::move(predicate), made);
}

inline ir::block make_update(const ir::block& block) {
  ir::block_node update = *block;
  update.name = block->name + "_update";
  update.init = {};
  update.reads = reads_of_update(*block, knowing(block->iters));
  return ir::make_block(std::move(update));
}

}  // namespace detail::decomposing

TILEWRIGHT_INLINE new_block decompose_reduction(const ir::function& f, std::uint64_t block,
                                                const ir::var& loop) {
  using namespace detail::decomposing;
  const path at = need_block(f, block, "decompose_reduction");
  need_loop(f, loop, "decompose_reduction");
  if (!at.scope()) refuse(1, "the root block is no reduction");
  const scoped_block reduction(at);
  const block_scope& scope = reduction.scope;
  const std::size_t child = reduction.child;
  const child_block& c = *reduction;
  const int index = loop_index(c.loops, loop);
  if (index < 0)
    refuse(1, {"loop \"", loop->name, "\" is not around ", quoted(c), " in its scope"});
  if (detail::conditional_below(at, *c.loops[static_cast<std::size_t>(index)]))
    refuse(1, {quoted(c), " stands below an if, a while or a let in loop \"", loop->name, "\""});
  const auto first = static_cast<std::size_t>(index);
  const driven_loops driven(c);
  check(scope, child, first, driven);
  // the update reads the result, which a block around it that is no root declares or not
  const ir::block_node& around = scope.root();
  for (const ir::buffer_region& out : c.block().writes)
    if (!around.reads.empty() && !scope.allocates(out.buffer) && !reads_buffer(around, out.buffer))
      refuse(6, {quoted(around), " around it does not declare that it reads \"", out.buffer->name,
                 "\""});

  loop_nest kept, others;
  for (std::size_t l = first; l < c.loops.size(); ++l)
    (driven.spatial[l] ? kept : others).push_back(c.loops[l]);
  const ir::var_set dropped = variables_of(others);
  const ir::var_map renamed = fresh_loops(kept, "_init");
  check_bounds(c, kept, dropped);
  check_body(c, first);
  const ir::expr guard = init_predicate(c, dropped, renamed);
  detail::decomposed_init early{c.block().init, {guard}};
  for (const ir::loop_node* l : kept) early.around.insert(early.around.end(), {l->min, l->extent});
  for (std::size_t i = 0; i < c.realize->values.size(); ++i)
    if (c.block().iters[i].kind == ir::iter_kind::spatial)
      early.around.push_back(c.realize->values[i]);
  check_early(scope, child, first, early,
              support::any(kept, [](const ir::loop_node* l) { return !ir::is_int(l->extent, 1); }));
  new_block out;
  ir::stmt init = nest_around(kept, renamed, make_init(c, guard, renamed, out.block));
  const auto place = support::find(
      at.slots, [&](const ir::stmt* slot) { return ir::as_loop(*slot) == c.loops[first]; });
  ir::function below;  // the loop alone: the path down to it is rebuilt once
  below.body = **place;
  below = replace_block(below, {{place, at.slots.end()}}, make_update(c.realize->block));
  out.function = replace(f, {{at.slots.begin(), place + 1}},
                         ir::make_seq({std::move(init), std::move(below.body)}));
  return out;
}

}  // namespace tilewright::primitive
