// One block taken apart into an outer and an inner one, as blockize does.
#pragma once

#include <string>

#include <tilewright/arith/region.hpp>
#include <tilewright/impl/dependence/binding/binding_division.hpp>
#include <tilewright/impl/dependence/binding/element_index.hpp>
#include <tilewright/impl/dependence/cover/footprint.hpp>
#include <tilewright/impl/dependence/loads.hpp>
#include <tilewright/impl/dependence/ragged_nest.hpp>
#include <tilewright/impl/schedule/analysis/enclosing_definitions.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/legality/init_placement.hpp>
#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/ir/analysis/declared.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/any_expr.hpp>
#include <tilewright/ir/substitution.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/path.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive::detail::block_parts {

inline constexpr refusal refuse{"blockize"};

inline bool depends_on_data(const ir::expr& e) { return is_float(e.type()) || ir::reads_memory(e); }

/// Rewrites a block in other variables and simplifies what has changed of its indices; comparisons
/// that have changed are written with < and <=.
class renamer : public ir::mutator {
 public:
  renamer(const ir::var_map& map, const arith::analyzer& known) : map_(map), known_(known) {}
  using ir::mutator::mutate;
  ir::expr mutate(const ir::expr& e) override {
    if (!depends_on_data(e)) {
      const ir::expr changed = ir::substitute(e, map_);
      return changed.same(e) ? e : known_.simplify(changed);
    }
    const ir::expr out = ir::mutator::mutate(e);
    if (out.same(e)) return e;
    if (out->op == ir::op::ge) return ir::le(out->args[1], out->args[0]);
    if (out->op == ir::op::gt) return ir::lt(out->args[1], out->args[0]);
    return out;
  }

 private:
  const ir::var_map& map_;
  const arith::analyzer& known_;
};

/// One block taken apart, and the variables of the two parts.
struct parts {
  const child_block* child = nullptr;
  std::size_t first = 0;  // position of the outermost inner loop
  division divided;
  std::vector<ir::iter_var> outer, inner;
  std::vector<ir::expr> outer_values, inner_values;
  ir::block block;       // the old one in the new variables
  ir::var_map of_loops;  // outer loops that are an outer variable
  ir::var_set given;     // by lets outside of the new block
  arith::analyzer known;

  const ir::block_node& old() const { return child->block(); }
};

inline bool is_unit(const ir::range& r) { return ir::is_int(r.extent, 1); }

inline void divide(parts& p, bool preserve) {
  std::string why;
  if (const ir::var used = used_inside(*p.child))
    refuse(2, {quoted(p.old()), " cannot be divided here: it uses loop \"", used->name,
               "\" without an iteration variable that stands for it"});
  auto divided = divide_bindings(*p.child, p.first, preserve, why);
  if (!divided) refuse(2, {quoted(p.old()), " cannot be divided here: ", why});
  p.divided = std::move(*divided);
  if (const ir::iter_var* v = following_a_loop(*p.child, p.first))
    refuse(3, {"the domain of \"", v->var->name, "\" of ", quoted(p.old()),
               " follows a loop that goes inside"});
}

/// A block with variables sees loops and lets outside of it through them alone; `at` is its place.
inline void check_sight(const ir::block_node& made, const path& at) {
  if (made.iters.empty()) return;
  if (const ir::var used = used_from_outside(made, at))
    refuse(2, {"what goes inside uses \"", used->name,
               "\", for which the new block has no iteration variable"});
}

/// What the outer part is loaded from is loaded once for all that goes inside, which must not write it.
inline void check_outer_loads(const parts& p, const ir::block_node& inside) {
  for (const ir::buffer_region& w : inside.writes) {
    bool loads = ir::loads_from(p.divided.outer_predicate, w.buffer);
    for (const divided_iter& d : p.divided.iters) loads |= ir::loads_from(d.outer, w.buffer);
    if (loads)
      refuse(2, {quoted(inside), " writes \"", w.buffer->name, "\", which says where ",
                 quoted(p.old()), " runs"});
  }
}

/// Inside the new block, an outer loop is seen as its variable.
inline ir::expr seen_inside(const parts& p, const ir::expr& e, const std::string& what) {
  const ir::expr out = ir::substitute(e, p.of_loops);
  if (ir::uses_any(out, p.given)) refuse(3, {what, " uses the value of a let around it"});
  for (std::size_t o = 0; o < p.first; ++o)
    if (ir::uses_var(out, p.child->loops[o]->var))
      refuse(3, {what, " uses the outer ", quoted(*p.child->loops[o])});
  return out;
}
inline ir::range seen_inside(const parts& p, const ir::range& r, const std::string& what) {
  return {seen_inside(p, r.min, what), seen_inside(p, r.extent, what)};
}

/// What a variable of the inner block runs over. Where the loop that it is follows another one that
/// goes inside, it keeps its domain.
inline ir::range inner_domain(const parts& p, std::size_t i) {
  const divided_iter& d = p.divided.iters[i];
  const bool uneven = follows(d.inner_dom.extent, *p.child, p.first);
  const std::string what = "the domain of \"" + p.old().iters[i].var->name + "\"";
  if (uneven && !is_unit(d.outer_dom)) refuse(3, {what, " follows a loop that goes inside"});
  return seen_inside(p, uneven ? p.old().iters[i].dom : d.inner_dom, what);
}

/// Makes the variables of both parts; `shared` are the outer variables that another block made.
inline void make_iters(parts& p, bool preserve, const std::vector<ir::iter_var>* shared) {
  for (std::size_t i = 0; i < p.divided.iters.size(); ++i) {
    const divided_iter& d = p.divided.iters[i];
    const ir::iter_var& iter = p.old().iters[i];
    if (shared)
      p.outer.push_back((*shared)[i]);
    else
      p.outer.push_back(
          {ir::make_var(iter.var->name + "_o", iter.var.type()), d.outer_dom, iter.kind});
    p.outer_values.push_back(d.outer);
    if (ir::is_var(d.outer))
      p.of_loops.emplace(d.outer, ir::cast(d.outer.type(), p.outer.back().var));
  }
  ir::var_map map;
  for (std::size_t i = 0; i < p.divided.iters.size(); ++i) {
    const divided_iter& d = p.divided.iters[i];
    const ir::iter_var& iter = p.old().iters[i];
    const dtype type = iter.var.type();
    const ir::expr outer = ir::cast(type, p.outer[i].var);
    if (is_unit(d.inner_dom)) {
      map.emplace(iter.var, is_unit(d.outer_dom) && !preserve && ir::is_int(d.outer, 0)
                                ? ir::integer(type, 0)
                                : outer);
      continue;
    }
    const ir::range dom = inner_domain(p, i);
    const ir::var inner = ir::make_var(iter.var->name + "_i", type);
    p.inner.push_back({inner, dom, iter.kind});
    p.inner_values.push_back(seen_inside(p, d.inner, "the value of \"" + iter.var->name + "\""));
    p.known.bind(inner, dom);
    map.emplace(iter.var,
                is_unit(d.outer_dom) ? inner : outer * ir::cast(type, dom.extent) + inner);
  }
  renamer rename(map, p.known);
  p.block = rename.mutate(p.child->realize->block);
}

/// What is known inside of the new block, of its own variables too.
inline arith::analyzer known_inside(const parts& p) {
  arith::analyzer out = p.known;
  out.bind(domains(p.outer));
  return out;
}

inline ir::stmt realize_inner(const parts& p) {
  ir::block_node inner = *p.block;
  inner.iters = p.inner;
  inner.init = {};
  if (p.block->init) inner.reads = reads_of_update(*p.block, known_inside(p));
  return ir::make_realize(p.inner_values, p.divided.inner_predicate,
                          ir::make_block(std::move(inner)));
}

/// The inner loops around `body`.
inline ir::stmt wrap(const parts& p, ir::stmt body) {
  for (std::size_t l = p.child->loops.size(); l-- > p.first;) {
    const ir::loop_node& loop = *p.child->loops[l];
    const auto [min, extent] = seen_inside(p, domain_of(loop), "loop \"" + loop.var->name + "\"");
    body = ir::make_loop(loop.var, min, extent, std::move(body), loop.loop, loop.annotations,
                         loop.thread_tag);
  }
  return body;
}

/// Conjuncts of the inner guard that concern the init.
inline ir::expr init_guard(const parts& p, const std::vector<ir::expr>& values) {
  ir::expr out = ir::boolean(true);
  for (const ir::expr& conjunct : ir::conjuncts(p.divided.inner_predicate)) {
    bool keeps = false, drops = false;
    for (const ir::var& v : ir::free_vars(conjunct)) {
      if (loop_index(p.child->loops, v) < 0) continue;
      const bool kept =
          support::any(values, [&](const ir::expr& value) { return ir::uses_var(value, v); });
      (kept ? keeps : drops) = true;
    }
    if (keeps && drops)
      refuse(4, {"the guard of ", quoted(p.old()), " mixes loops that the init keeps and drops"});
    if (!drops) out = ir::logical_and(out, conjunct);
  }
  return out;
}

inline bool uses(const ir::stmt& s, const ir::var& v) {
  return ir::any_expr(s, [&](const ir::expr& e) { return e.same(v); });
}

/// The init runs for what the inner loops run for, which those that it drops do not decide.
inline void check_init_loops(const parts& p, const loop_nest& kept) {
  const auto keeps = [&](const ir::loop_node* l) { return support::contains(kept, l); };
  for (std::size_t l = p.first; l < p.child->loops.size(); ++l) {
    const ir::loop_node& loop = *p.child->loops[l];
    const std::string what = "loop \"" + loop.var->name + "\"";
    for (std::size_t o = p.first; o < l && keeps(&loop); ++o)
      if (!keeps(p.child->loops[o]) && bounds_use(loop, p.child->loops[o]->var))
        refuse(4, {what, ", which the init keeps, follows one that it drops"});
    if (!keeps(&loop) && may_be_empty(loop, *p.child))
      refuse(4, {what, " may have no iteration, and then nothing is initialised"});
  }
}

/// The init of the new block: a nest of its own over the inner variables that do not reduce.
inline ir::stmt make_init(const parts& p, std::string name) {
  if (const ir::buffer own = own_buffer_of_init(p.old()))
    refuse(4, {"the init of ", quoted(p.old()), " uses \"", own->name,
               "\", which is known in that block alone"});
  ir::block_node init;
  init.name = std::move(name);
  std::vector<ir::expr> values;
  ir::var_map map;
  for (std::size_t i = 0; i < p.inner.size(); ++i) {
    if (p.inner[i].kind == ir::iter_kind::reduce || !uses(p.block->init, p.inner[i].var)) continue;
    const ir::var fresh = ir::make_var(p.inner[i].var->name + "_init", p.inner[i].var.type());
    map.emplace(p.inner[i].var, fresh);
    init.iters.push_back({fresh, p.inner[i].dom, p.inner[i].kind});
    values.push_back(p.inner_values[i]);
  }
  ir::expr guard = init_guard(p, values);
  init.body = ir::substitute(p.block->init, map);
  for (const ir::buffer_region& w : p.block->writes) init.writes.push_back(ir::substitute(w, map));
  arith::access_options options;
  options.use_conditions = false;
  std::vector<ir::buffer_region> reads, stores;
  arith::access_regions(init.body, reads, stores, {}, options);
  for (ir::buffer_region& r : reads)
    if (!writes_buffer(init, r.buffer)) init.reads.push_back(std::move(r));
  loop_nest kept;
  for (const ir::loop_node* loop : loops_from(p.child->loops, p.first))
    if (support::any(values, [&](const ir::expr& value) { return ir::uses_var(value, loop->var); }))
      kept.push_back(loop);
  ir::var_map loops = fresh_loops(kept);
  check_init_loops(p, kept);
  decomposed_init early{p.old().init, values};
  early.around.push_back(guard);
  for (const ir::loop_node* l : kept) early.around.insert(early.around.end(), {l->min, l->extent});
  if (!kept.empty() && early.loads_from(p.old()))
    refuse(4, {"the init of ", quoted(p.old()),
               ", or what says where it runs, reads what the block writes"});
  const bool several =
      support::any(p.inner, [](const ir::iter_var& v) { return v.kind != ir::iter_kind::reduce; });
  if (several && (read_of_others(p.old()) || !writes_once(*p.child)))
    refuse(4, {"instances of ", quoted(p.old()),
               " find what others have left, and the init would run before all of them"});
  ir::stmt out = ir::make_realize(ir::substitute(std::move(values), loops),
                                  ir::substitute(guard, loops), ir::make_block(std::move(init)));
  loops.insert(p.of_loops.begin(), p.of_loops.end());
  out = nest_around(kept, loops, std::move(out));
  for (const ir::iter_var& v : p.outer)
    if (v.kind != ir::iter_kind::spatial && uses(out, v.var))
      refuse(4, {"what the init of ", quoted(p.old()), " runs over follows the reduction"});
  return out;
}

/// What bounds of the inner loops and the inner realize load, which the new block reads.
inline void add_loads_around(const parts& p, std::vector<ir::buffer_region>& reads) {
  const arith::analyzer known = known_inside(p);
  for (std::size_t l = p.first; l < p.child->loops.size(); ++l) {
    add_loads(p.child->loops[l]->min, reads, known);
    add_loads(p.child->loops[l]->extent, reads, known);
  }
  for (const ir::expr& value : p.inner_values) add_loads(value, reads, known);
  add_loads(p.divided.inner_predicate, reads, known);
}

inline std::vector<ir::buffer_region> widened(const parts& p,
                                              const std::vector<ir::buffer_region>& regions) {
  const arith::loop_domains inner = domains(p.inner);
  std::vector<ir::buffer_region> out;
  for (const ir::buffer_region& r : regions) out.push_back(arith::relax(r, inner, p.known));
  return out;
}

/// Loops of one iteration stand for 0; and without its init the inner block is no reduction, which
/// alone may be shared by threads.
inline void check_loops(const parts& p) {
  const child_block& c = *p.child;
  for (std::size_t l = 0; l < c.loops.size(); ++l)
    if (ir::is_int(c.loops[l]->extent, 1) && !ir::is_int(c.loops[l]->min, 0))
      refuse(3, {quoted(*c.loops[l]), " of one iteration does not start at 0"});
  if (!c.block().init) return;
  for (std::size_t i = 0; i < c.block().iters.size(); ++i)
    for (const auto& [term, factor] : bind_iters(c).values[i].terms)
      if (c.block().iters[i].kind == ir::iter_kind::reduce && factor < 0)
        refuse(4, {quoted(c.block()), " reduces backwards, and its init comes last"});
  for (std::size_t l = p.first; l < c.loops.size(); ++l) {
    const ir::loop_node& loop = *c.loops[l];
    if (loop.loop == ir::loop_kind::serial || loop.loop == ir::loop_kind::unrolled) continue;
    for (std::size_t i = 0; i < c.block().iters.size(); ++i)
      if (c.block().iters[i].kind == ir::iter_kind::reduce &&
          ir::uses_var(c.realize->values[i], loop.var))
        refuse(4, {"iterations of ", quoted(loop), ", which run at once, share the reduction of ",
                   quoted(c.block())});
  }
}

}  // namespace tilewright::primitive::detail::block_parts
