#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/dependence/binding/loop_sums.hpp>
#include <tilewright/impl/dependence/cover/footprint.hpp>
#include <tilewright/impl/dependence/cover/point_access.hpp>
#include <tilewright/impl/dependence/loads.hpp>
#include <tilewright/impl/ir/intrinsics.hpp>
#include <tilewright/impl/schedule/analysis/conditional_execution.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/analysis/threads.hpp>
#include <tilewright/impl/schedule/legality/invariants.hpp>
#include <tilewright/impl/schedule/legality/scoped_block.hpp>
#include <tilewright/impl/schedule/rewrite/block_names.hpp>
#include <tilewright/ir/any_expr.hpp>
#include <tilewright/ir/substitution.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/primitive/padding/decompose_padding.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive {
namespace detail::filling_pads {

inline constexpr refusal refuse{"decompose_padding"};

/// Values [min, end) of an iteration variable where the condition holds.
struct inside {
  ir::expr min, end;
};

struct plan {
  const child_block* child = nullptr;
  const ir::store_node* store = nullptr;
  ir::expr condition, value, constant;
  std::vector<inside> region;  // [iteration variables]
  std::size_t first = 0;       // outermost loop of the constant's nest
  std::size_t inner = 0;       // outermost loop that is cut
  arith::analyzer known;

  const ir::block_node& block() const { return child->block(); }
};

inline bool is_constant(const ir::expr& e) {
  if (e->op == ir::op::cast) return is_constant(e->args[0]);
  return e->op == ir::op::integer || e->op == ir::op::real;
}

inline bool has_side_effects(const ir::expr& e) {
  return ir::any_expr(e, [](const ir::expr& x) {
    return x->op == ir::op::call && x->name != "likely" &&
           !ir::detail::is_script_intrinsic(x->name);
  });
}

inline void match_body(plan& p) {
  const ir::block_node& b = p.block();
  const auto pattern = [&](const std::string& what) { refuse(3, {quoted(b), ": ", what}); };
  p.store = ir::as_store(b.body);
  if (!p.store) pattern("its body is not one store");
  if (!b.alloc_buffers.empty() || !b.match_buffers.empty()) pattern("it has buffers of its own");
  const ir::expr& value = p.store->value;
  if (value->op != ir::op::if_then_else) pattern("it does not store an if_then_else");
  if (!is_constant(value->args[2])) pattern("the padding is not a constant");
  if (has_side_effects(value->args[1])) pattern("the padded value has side effects");
  p.condition = value->args[0];
  p.value = value->args[1];
  p.constant = value->args[2];
}

inline ir::expr without_likely(const ir::expr& e) {
  return e->op == ir::op::call && e->name == "likely" ? without_likely(e->args[0]) : e;
}

/// Cuts the region of the variable that the conjunct bounds.
inline void cut(plan& p, const ir::expr& conjunct) {
  const auto dependent = [&] {
    refuse(5, {quoted(p.block()), ": ", ir::print(conjunct),
               " does not bound one variable by a number"});
  };
  const auto bound = footprints::not_negative(conjunct);
  if (!bound) dependent();
  int at = -1;
  std::int64_t factor = 0;
  arith::linear rest = *bound;
  rest.terms.clear();
  for (const auto& [term, f] : bound->terms) {
    const int index = iter_index(p.block(), term);
    if (index < 0) {
      for (const ir::iter_var& i : p.block().iters)
        if (ir::uses_var(term, i.var)) dependent();
      rest.terms.emplace_back(term, f);
      continue;
    }
    if (at >= 0) dependent();
    at = index;
    factor = f;
  }
  if (at < 0) return;  // about no variable: it stays a guard
  inside& r = p.region[static_cast<std::size_t>(at)];
  if (factor == 1) {  // v >= -rest
    const ir::expr low = ir::integer(rest.type, 0) - arith::from_linear(rest);
    r.min = p.known.simplify(ir::max(r.min, low));
  } else if (factor == -1) {  // v <= rest
    const ir::expr end = arith::from_linear(rest) + ir::integer(rest.type, 1);
    r.end = p.known.simplify(ir::min(r.end, end));
  } else {
    dependent();
  }
}

inline void find_region(plan& p) {
  for (std::size_t i = 0; i < p.block().iters.size(); ++i) {
    const ir::range& dom = p.block().iters[i].dom;
    inside r{dom.min, dom.min + dom.extent};
    const arith::bounds values = p.known.const_bounds(p.child->realize->values[i]);
    const dtype type = dom.min.type();
    if (values.bounded()) {
      r.min = p.known.simplify(ir::max(r.min, ir::integer(type, values.lo)));
      r.end = p.known.simplify(ir::min(r.end, ir::integer(type, values.hi + 1)));
    }
    p.region.push_back(std::move(r));
  }
  for (const ir::expr& conjunct : ir::conjuncts(p.condition)) cut(p, without_likely(conjunct));
}

/// The condition and the guard in terms of the loops, one entry per conjunct.
inline std::vector<ir::expr> guards(const plan& p) {
  const ir::var_map values = ir::bindings(*p.child->realize);
  std::vector<ir::expr> out;
  for (const ir::expr& c : ir::conjuncts(p.condition))
    out.push_back(ir::substitute(without_likely(c), values));
  for (const ir::expr& c : ir::conjuncts(p.child->realize->predicate)) out.push_back(c);
  return out;
}

/// A block below the loop that writes what guards, bounds or values around the block are loaded
/// from: the constants are stored ahead of it. -1 if there is none.
inline int changer_of_instances(const block_scope& scope, std::size_t child, const plan& p) {
  const loop_nest below = loops_from(p.child->loops, p.first);
  const auto places_instances = [&](const ir::buffer_region& r) {
    return loads_around(*p.child->realize, r.buffer) ||
           support::any(below, [&](const ir::loop_node* l) { return bounds_load(*l, r.buffer); });
  };
  for (std::size_t w = 0; w < scope.size(); ++w)
    if (w != child && scope.common_loops(w, child) > p.first &&
        support::any(scope[w].block().writes, places_instances))
      return static_cast<int>(w);
  return -1;
}

inline ir::buffer_region substituted(const ir::buffer_region& r, const ir::var_map& map,
                                     const arith::analyzer& known) {
  ir::buffer_region out{r.buffer, {}};
  for (const ir::range& d : r.box)
    out.box.push_back({known.simplify(ir::substitute(d.min, map)), ir::substitute(d.extent, map)});
  return out;
}

inline std::vector<ir::expr> substituted(const std::vector<ir::expr>& list, const ir::var_map& map,
                                         const arith::analyzer& known) {
  std::vector<ir::expr> out;
  for (const ir::expr& e : list) out.push_back(known.simplify(ir::substitute(e, map)));
  return out;
}

/// The block of constants below the loops from `first` on.
inline ir::stmt make_constant(const plan& p, std::string name, std::uint64_t& id) {
  ir::block_node out;
  out.name = std::move(name);
  const loop_nest around = loops_from(p.child->loops, p.first);
  const ir::var_map loops = fresh_loops(around);
  ir::var_map iters;
  for (const ir::iter_var& i : p.block().iters) {
    const ir::var fresh = ir::make_var(i.var->name, i.var.type());
    iters.emplace(i.var, fresh);
    out.iters.push_back({fresh, ir::substitute(i.dom, loops), i.kind});
  }
  for (const ir::buffer_region& w : p.block().writes)
    out.writes.push_back(substituted(w, iters, {}));
  out.body = ir::make_store(p.store->buffer, substituted(p.store->indices, iters, {}), p.constant);
  const ir::block made = ir::make_block(std::move(out));
  id = made->id;
  ir::stmt nest = ir::make_realize(ir::substitute(p.child->realize->values, loops),
                                   ir::substitute(p.child->realize->predicate, loops), made);
  for (std::size_t l = around.size(); l-- > 0;) {
    const bool threads = around[l]->loop == ir::loop_kind::thread_binding;
    nest = ir::make_loop(loops.at(around[l]->var), ir::substitute(around[l]->min, loops),
                         ir::substitute(around[l]->extent, loops), std::move(nest),
                         threads ? around[l]->loop : ir::loop_kind::serial, {},
                         threads ? around[l]->thread_tag : std::string());
  }
  return nest;
}

/// The loop may be cut: it is one variable as it stands, drives nothing else, is no thread, and runs
/// over numbers or over all of the variable's domain, so that the region knows where it ends.
inline bool may_cut(const plan& p, std::size_t loop, std::size_t iter) {
  const ir::loop_node& l = *p.child->loops[loop];
  const ir::range& dom = p.block().iters[iter].dom;
  if (l.loop == ir::loop_kind::thread_binding) return false;
  if (!constant_range(domain_of(l)).bounded() &&
      !(arith::same_value(l.min, dom.min) && arith::same_value(l.extent, dom.extent)))
    return false;
  for (std::size_t i = 0; i < p.child->realize->values.size(); ++i)
    if (i != iter && ir::uses_var(p.child->realize->values[i], l.var)) return false;
  for (const ir::loop_node* other : p.child->loops)
    if (bounds_use(*other, l.var)) return false;
  return true;
}

/// The block of the inside below the loops from `inner` on.
inline ir::stmt make_inside(plan& p) {
  ir::block_node out = p.block();
  ir::var_map iters, moved;
  std::vector<ir::expr> values;
  std::vector<ir::range> ranges;
  for (const ir::loop_node* l : p.child->loops) ranges.push_back(domain_of(*l));
  for (std::size_t i = 0; i < out.iters.size(); ++i) {
    const inside& r = p.region[i];
    const ir::expr extent = p.known.simplify(r.end - r.min);
    const dtype type = extent.type();
    const ir::var fresh = ir::make_var(out.iters[i].var->name, out.iters[i].var.type());
    iters.emplace(out.iters[i].var, fresh + r.min);
    out.iters[i] = {fresh, {ir::integer(type, 0), extent}, out.iters[i].kind};
    const ir::expr& value = p.child->realize->values[i];
    const int at = loop_index(p.child->loops, value);
    if (at >= static_cast<int>(p.inner) && may_cut(p, static_cast<std::size_t>(at), i)) {
      ranges[static_cast<std::size_t>(at)] = {ir::integer(type, 0), extent};
      moved.emplace(value, value + r.min);
      values.push_back(value);
    } else {
      values.push_back(p.known.simplify(value - r.min));
    }
  }
  const std::vector<ir::expr> conditions = guards(p);
  for (std::size_t l = p.inner; l < ranges.size(); ++l)
    p.known.bind(p.child->loops[l]->var, ranges[l]);
  ir::expr guard = ir::boolean(true);
  for (const ir::expr& c : conditions) {
    const ir::expr here = ir::substitute(c, moved);
    if (!p.known.prove(here)) guard = ir::logical_and(guard, p.known.simplify(here));
  }
  arith::analyzer inner = knowing(out.iters);
  for (auto* list : {&out.reads, &out.writes})
    for (ir::buffer_region& region : *list) region = substituted(region, iters, inner);
  out.body = ir::make_store(p.store->buffer, substituted(p.store->indices, iters, inner),
                            inner.simplify(ir::substitute(p.value, iters)));
  ir::stmt nest =
      ir::make_realize(std::move(values), std::move(guard), ir::make_block(std::move(out)));
  for (std::size_t l = p.child->loops.size(); l-- > p.inner;) {
    const ir::loop_node& loop = *p.child->loops[l];
    nest = ir::make_loop(loop.var, ranges[l].min, ranges[l].extent, std::move(nest), loop.loop,
                         loop.annotations, loop.thread_tag);
  }
  return nest;
}

/// The outermost loop from `first` on below which nothing else stands; the number of loops when
/// each holds more.
inline std::size_t innermost_chain(const child_block& c, std::size_t first) {
  std::size_t l = c.loops.size();
  if (ir::as_realize(c.loops[l - 1]->body) != c.realize) return l;
  while (l-- > first + 1) {
    const ir::stmt& below = c.loops[l - 1]->body;
    if (ir::as_loop(below) != c.loops[l]) return l;
  }
  return first;
}

}  // namespace detail::filling_pads

TILEWRIGHT_INLINE new_block decompose_padding(const ir::function& f, std::uint64_t block,
                                              const ir::var& loop) {
  using namespace detail::filling_pads;
  const path at = need_block(f, block, "decompose_padding");
  need_loop(f, loop, "decompose_padding");
  if (!at.scope()) refuse(1, "the root block pads nothing");
  const scoped_block padded(at);
  const block_scope& scope = padded.scope;
  const std::size_t child = padded.child;
  plan p;
  p.child = &*padded;
  const int first = loop_index(p.child->loops, loop);
  if (first < 0)
    refuse(1, {"loop \"", loop->name, "\" is not around ", quoted(p.block()), " in its scope"});
  if (detail::conditional_below(at, *p.child->loops[static_cast<std::size_t>(first)]))
    refuse(1, {quoted(p.block()), " stands below an if or a let in loop \"", loop->name, "\""});
  check_complete(refuse, 2, scope, child);
  p.first = static_cast<std::size_t>(first);
  p.inner = innermost_chain(*p.child, p.first);
  p.known.bind(domains(p.child->loops));
  match_body(p);
  const std::vector<ir::expr> conditions = guards(p);
  if (support::all(conditions, [&](const ir::expr& c) { return p.known.prove(c); }))
    refuse(4, {quoted(p.block()), ": its condition always holds"});
  find_region(p);
  if (!point_access::instances_apart(p.block(), p.store->indices))
    refuse(6, {quoted(p.block()), " stores some elements more than once"});
  if (const int user = earlier_user(scope, child); user >= 0)
    refuse(7, {quoted(scope[user]), " uses what ", quoted(p.block()), " stores, before it"});
  if (const int w = changer_of_instances(scope, child, p); w >= 0)
    refuse(7, {quoted(scope[w]), " below loop \"", loop->name,
               "\" writes what says which instances of ", quoted(p.block()), " run"});
  if (detail::threads_begin_at(at, *p.child->loops[p.first], p.store->buffer))
    refuse(8, {"what threads of loop \"", loop->name, "\" and below keep in \"",
               p.store->buffer->name, "\" ends with them"});

  new_block out;
  ir::stmt constant =
      make_constant(p, fresh_block_name(f, p.block().name + "_pad_const"), out.block);
  const path nest =
      p.inner == p.child->loops.size() ? at : find_loop(f, p.child->loops[p.inner]->var);
  const ir::function trimmed = replace(f, nest, make_inside(p));
  const path place = find_loop(trimmed, loop);
  out.function = replace(trimmed, place, ir::make_seq({std::move(constant), place.target()}));
  return out;
}

TILEWRIGHT_INLINE bool can_decompose_padding(const ir::function& f, std::uint64_t block,
                                             const ir::var& loop) {
  return detail::accepts("decompose_padding", f,
                         [&] { return decompose_padding(f, block, loop).function; });
}

}  // namespace tilewright::primitive
