#pragma once

#include <algorithm>
#include <string>

#include <tilewright/arith/region.hpp>
#include <tilewright/impl/schedule/analysis/binding/binding_loops.hpp>
#include <tilewright/impl/schedule/analysis/binding/element_index.hpp>
#include <tilewright/impl/schedule/analysis/cover/conditional_execution.hpp>
#include <tilewright/impl/schedule/analysis/cover/footprint.hpp>
#include <tilewright/impl/schedule/analysis/cover/recomputation.hpp>
#include <tilewright/impl/schedule/analysis/ragged_nest.hpp>
#include <tilewright/impl/schedule/analysis/reduction_form.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/legality/first_instance.hpp>
#include <tilewright/impl/schedule/legality/init_placement.hpp>
#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/impl/schedule/legality/stage_order.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/primitive/reductions/decompose_reduction.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive {
namespace detail::decomposing {

inline constexpr refusal refuse{"decompose_reduction"};

inline void check(const block_scope& scope, std::size_t child, std::size_t first,
                  const driven_loops& driven) {
  const child_block& c = scope[child];
  const int reason = reduction_violation(scope, child);
  if (reason != 0 && reason != 7)  // which of its results it reads is asked below
    refuse(2, {quoted(c.block()), " is no reduction: ", reduction_reason(reason)});
  for (std::size_t l = 0; l < first; ++l)
    if (!ir::is_int(c.loops[l]->extent, 1) && driven.other[l])
      refuse(3, {"loop \"", c.loops[l]->var->name, "\" further out drives the reduction of ",
                 quoted(c.block())});
  for (std::size_t l = first; l < c.loops.size(); ++l)
    if (!ir::is_int(c.loops[l]->extent, 1) && !driven.any(l))
      refuse(5, {quoted(c.block()), " runs again in each iteration of loop \"",
                 c.loops[l]->var->name, "\""});
  if (!is_affine_binding(c, first))
    refuse(5, {"the bindings of ", quoted(c.block()), " are not affine from the loop inwards"});
  if (!runs_once(c, first))
    refuse(5, {quoted(c.block()), " repeats its reduction in loops from \"",
               c.loops[first]->var->name, "\" inwards"});
  for (std::size_t l = 0; l < c.loops.size(); ++l)
    if (c.loops[l]->loop == ir::loop_kind::thread_binding && !ir::is_int(c.loops[l]->extent, 1) &&
        driven.other[l])
      refuse(7, {"threads share the reduction of ", quoted(c.block()), " along loop \"",
                 c.loops[l]->var->name, "\", which they can as long as it has its init"});
  const int user = earlier_user(scope, child);
  if (user >= 0)
    refuse(6, {quoted(scope[static_cast<std::size_t>(user)].block()), " uses the result of ",
               quoted(c.block()), " before it"});
}

/// The conjuncts that say something about the init; those about dropped loops alone go.
inline ir::expr init_predicate(const child_block& c, const ir::var_set& dropped,
                               const ir::var_map& renamed) {
  ir::expr out = ir::boolean(true);
  for (const ir::expr& conjunct : ir::conjuncts(c.realize->predicate)) {
    bool drops = false, keeps = false;
    for (const ir::var& v : ir::free_vars(conjunct)) {
      if (dropped.count(v))
        drops = true;
      else
        keeps = true;
    }
    if (drops && keeps)
      refuse(4, {"the predicate of ", quoted(c.block()),
                 " mixes loops that the init keeps and drops"});
    if (drops && !holds_first(conjunct, c, dropped))
      refuse(5,
             {"the predicate of ", quoted(c.block()),
              " may leave out the first iteration of loops that the init drops, and then nothing "
              "is initialised"});
    if (!drops) out = ir::logical_and(out, ir::substitute(conjunct, renamed));
  }
  return out;
}

/// The loops and domains of the init do not follow loops that it drops, and these run at least
/// once.
inline void check_bounds(const child_block& c, const std::vector<const ir::loop_node*>& kept,
                         const ir::var_set& dropped) {
  const auto check = [&](const ir::range& r, const std::string& what) {
    if (ir::uses_any(r.min, dropped) || ir::uses_any(r.extent, dropped))
      refuse(4, {what, " of ", quoted(c.block()), " follows a loop that the init drops"});
  };
  for (const ir::loop_node* l : kept) check({l->min, l->extent}, "loop \"" + l->var->name + "\"");
  for (const ir::iter_var& v : c.block().iters)
    if (v.kind == ir::iter_kind::spatial) check(v.dom, "the domain of \"" + v.var->name + "\"");
  for (const ir::loop_node* l : c.loops) {
    if (dropped.count(l->var) && may_be_empty(*l, c))
      refuse(5, {"loop \"", l->var->name, "\" around ", quoted(c.block()),
                 " may have no iteration, and then nothing is initialised"});
  }
}

/// The init itself follows no loop, for it gets others, and takes nothing of the block with it.
inline void check_body(const child_block& c, std::size_t first) {
  if (const ir::buffer own = own_buffer_of_init(c.block()))
    refuse(4, {"the init of ", quoted(c.block()), " uses \"", own->name,
               "\", which is known in that block alone"});
  ir::for_each_expr(c.block().init, [&](const ir::expr& e) {
    if (ir::is_var(e) && loop_index(c.loops, e) >= static_cast<int>(first))
      refuse(4, {"the init of ", quoted(c.block()), " uses loop \"", e->name,
                 "\" without an iteration variable that stands for it"});
  });
}

/// Blocks below the loop neither write what the init loads nor read what was in the result before.
inline void check_early(const block_scope& scope, std::size_t child, std::size_t first,
                        const early_init& init, bool moves) {
  const child_block& c = scope[child];
  const std::string below = " below loop \"" + c.loops[first]->var->name + "\"";
  for (std::size_t w = 0; w < scope.size(); ++w) {
    if (w == child ? !moves : scope.common_loops(w, child) <= first) continue;
    if (init.loads_from(scope[w].block()))
      refuse(6, {"the init of ", quoted(c.block()), ", or what says where it runs, reads what ",
                 quoted(scope[w].block()), " writes", below});
  }
  if (const ir::buffer x = read_of_others(c.block()); x && moves)
    refuse(6, {quoted(c.block()), " reads elements of \"", x->name,
               "\" that other instances of it initialise"});
  for (const ir::buffer_region& out : c.block().writes) {
    if (!moves || scope.allocates(out.buffer)) continue;
    ir::block_node root = scope.root();  // as if nothing came from outside
    root.alloc_buffers.push_back(out.buffer);
    const block_scope alone(root);
    for (std::size_t u = child + 1; u < scope.size(); ++u)
      if (scope.common_loops(u, child) > first && !region_covered(alone, u) &&
          support::any(scope[u].block().reads,
                       [&](const ir::buffer_region& r) { return r.buffer == out.buffer; }))
        refuse(6, {quoted(scope[u].block()), below, " may read elements of \"", out.buffer->name,
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
    const ir::range dom{ir::substitute(iter.dom.min, renamed),
                        ir::substitute(iter.dom.extent, renamed)};
    ir::iter_var fresh{ir::make_var(iter.var->name, iter.var.type()), dom, iter.kind};
    inner.emplace(iter.var, fresh.var);
    init.iters.push_back(std::move(fresh));
    values.push_back(ir::substitute(c.realize->values[i], renamed));
  }
  init.body = ir::substitute(block.init, inner);
  std::vector<ir::buffer_region> unused;
  arith::access_regions(init.body, init.reads, unused);
  for (const ir::buffer_region& w : block.writes) {
    ir::buffer_region out{w.buffer, {}};
    for (const ir::range& r : w.box)
      out.box.push_back({ir::substitute(r.min, inner), ir::substitute(r.extent, inner)});
    init.writes.push_back(std::move(out));
  }
  const ir::block made = ir::make_block(std::move(init));
  id = made->id;
  return ir::make_realize(std::move(values), std::move(predicate), made);
}

inline ir::block make_update(const ir::block& block) {
  ir::block_node update = *block;
  update.name = block->name + "_update";
  update.init = {};
  arith::analyzer known;
  for (const ir::iter_var& v : block->iters) known.bind(v.var, v.dom);
  update.reads = reads_of_update(*block, known);
  return ir::make_block(std::move(update));
}

}  // namespace detail::decomposing

TILEWRIGHT_INLINE new_block decompose_reduction(const ir::function& f, std::uint64_t block,
                                                const ir::var& loop) {
  using namespace detail::decomposing;
  const path at = need_block(f, block, "decompose_reduction");
  need_loop(f, loop, "decompose_reduction");
  const ir::block_realize_node* holder = at.scope();
  if (!holder) refuse(1, "the root block is no reduction");
  const block_scope scope(*holder->block);
  const auto child = static_cast<std::size_t>(scope.find(block));
  const child_block& c = scope[child];
  const int index = loop_index(c.loops, loop);
  if (index < 0)
    refuse(1, {"loop \"", loop->name, "\" is not around ", quoted(c.block()), " in its scope"});
  if (detail::conditional_below(at, *c.loops[static_cast<std::size_t>(index)]))
    refuse(1, {quoted(c.block()), " stands below an if, a while or a let in loop \"", loop->name,
               "\""});
  const auto first = static_cast<std::size_t>(index);
  const detail::driven_loops driven(c);
  check(scope, child, first, driven);
  // the update reads the result, which a block around it that is no root declares or not
  const auto declared = [&](const ir::buffer& b) {
    return support::any(holder->block->reads,
                        [&](const ir::buffer_region& r) { return r.buffer == b; });
  };
  for (const ir::buffer_region& out : c.block().writes)
    if (!holder->block->reads.empty() && !scope.allocates(out.buffer) && !declared(out.buffer))
      refuse(6, {quoted(*holder->block), " around it does not declare that it reads \"",
                 out.buffer->name, "\""});

  ir::var_map renamed;
  ir::var_set dropped;
  std::vector<const ir::loop_node*> kept;
  for (std::size_t l = first; l < c.loops.size(); ++l) {
    if (!driven.spatial[l]) {
      dropped.insert(c.loops[l]->var);
      continue;
    }
    kept.push_back(c.loops[l]);
    renamed.emplace(c.loops[l]->var,
                    ir::make_var(c.loops[l]->var->name + "_init", c.loops[l]->var.type()));
  }
  check_bounds(c, kept, dropped);
  check_body(c, first);
  const ir::expr guard = init_predicate(c, dropped, renamed);
  detail::early_init early{c.block().init, {guard}};
  for (const ir::loop_node* l : kept) early.around.insert(early.around.end(), {l->min, l->extent});
  for (std::size_t i = 0; i < c.realize->values.size(); ++i)
    if (c.block().iters[i].kind == ir::iter_kind::spatial)
      early.around.push_back(c.realize->values[i]);
  check_early(scope, child, first, early,
              support::any(kept, [](const ir::loop_node* l) { return !ir::is_int(l->extent, 1); }));
  new_block out;
  ir::stmt init = make_init(c, guard, renamed, out.block);
  for (std::size_t l = kept.size(); l-- > 0;)
    init = ir::make_loop(renamed.at(kept[l]->var), ir::substitute(kept[l]->min, renamed),
                         ir::substitute(kept[l]->extent, renamed), std::move(init), kept[l]->loop,
                         kept[l]->annotations, kept[l]->thread_tag);
  const auto place = std::find_if(at.slots.begin(), at.slots.end(), [&](const ir::stmt* slot) {
    return ir::as_loop(*slot) == c.loops[first];
  });
  ir::function below;  // the loop alone: the path down to it is rebuilt once
  below.body = **place;
  below = replace_block(below, {{place, at.slots.end()}}, make_update(c.realize->block));
  out.function = replace(f, {{at.slots.begin(), place + 1}},
                         ir::make_seq({std::move(init), std::move(below.body)}));
  return out;
}

}  // namespace tilewright::primitive
