#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/dependence/binding/index_inverse.hpp>
#include <tilewright/impl/dependence/binding/loop_sums.hpp>
#include <tilewright/impl/dependence/cover/carried_reads.hpp>
#include <tilewright/impl/dependence/cover/footprint.hpp>
#include <tilewright/impl/dependence/cover/partial_values.hpp>
#include <tilewright/impl/dependence/cover/store_nest.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/legality/invariants.hpp>
#include <tilewright/impl/schedule/legality/scoped_block.hpp>
#include <tilewright/impl/schedule/rewrite/inlining.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/substitution.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/path.hpp>
#include <tilewright/schedule/primitive/movement/compute_inline.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive {
namespace detail::inlining {

/// The blocks of a reverse_compute_inline.
struct fold {
  std::size_t consumer = 0, producer = 0;
  ir::buffer between;
  store_nest nest;  // what the producer does
};

/// Whether each instance of the producer initialises its element and updates it once, as a sum along
/// no axis does, and the consumer copies it as it is: then both may be done where it is copied to.
inline bool is_initialised_copy(const ir::block_node& producer, const ir::block_node& consumer,
                                const ir::buffer& between) {
  const ir::store_node *init = ir::as_store(producer.init), *update = ir::as_store(producer.body);
  const ir::expr& copied = ir::as_store(consumer.body)->value;
  return init && update && copied->op == ir::op::load && copied->buffer == between &&
         support::all(producer.iters,
                      [](const ir::iter_var& v) { return v.kind == ir::iter_kind::spatial; }) &&
         std::equal(init->indices.begin(), init->indices.end(), update->indices.begin(),
                    update->indices.end(), arith::same_value) &&
         !loads_from(producer.init, between) && !reads_other_results(producer);
}

inline fold find_producer(const refusal& refuse, const block_scope& scope, std::size_t child) {
  fold out{child, 0, {}, {}};
  const ir::block_node& block = scope[child].block();
  for (const ir::buffer_region& r : block.reads) {
    if (r.buffer == out.between) continue;
    for (std::size_t i = 0; i < scope.size(); ++i) {
      if (i == child || !writes_buffer(scope[i].block(), r.buffer)) continue;
      if (out.between)
        refuse(3, {quoted(block),
                   " reads more than one result of its scope, or one of several blocks"});
      out.between = r.buffer;
      out.producer = i;
    }
  }
  if (!out.between) refuse(3, {quoted(block), " reads no result of another block of its scope"});
  const ir::block_node& producer = scope[out.producer].block();
  if (producer.init && is_initialised_copy(producer, block, out.between))
    check_complete(refuse, 3, scope, out.producer);
  else
    check_no_reduction(refuse, 3, scope, out.producer);
  const std::optional<store_nest> nest = find_store_nest(producer.body);
  if (producer.writes.size() != 1 || !producer.match_buffers.empty() || !nest)
    refuse(3, {"the body of producer ", quoted(producer),
               " is not one store, alone or in a nest of loops that store different "
               "elements"});
  if (!nest->around.empty() && !producer.alloc_buffers.empty())
    refuse(3, {"producer ", quoted(producer), " has buffers of its own"});
  out.nest = *nest;
  if (!scope.allocates(out.between))
    refuse(3, {"producer ", quoted(producer), " writes an output of its scope"});
  for (std::size_t i = 0; i < scope.size(); ++i)
    if (i != child && reads_buffer(scope[i].block(), out.between))
      refuse(3, {quoted(scope[i]), " reads \"", out.between->name, "\" too"});
  return out;
}

/// The index tuple of all loads of the buffer in the block.
inline std::vector<ir::expr> common_indices(const refusal& refuse, const ir::block_node& block,
                                            const ir::buffer& x) {
  std::vector<ir::expr> out;
  bool first = true, same = true;
  ir::for_each_expr(block.body, [&](const ir::expr& e) {
    if (e->op == ir::op::data && e->buffer == x)
      refuse(5, {quoted(block), " passes on a pointer to \"", x->name, "\""});
    if (e->op != ir::op::load || e->buffer != x) return;
    if (first) out = e->args;
    for (std::size_t d = 0; d < out.size() && !first; ++d)
      same = same && arith::same_value(out[d], e->args[d]);
    first = false;
  });
  if (first || !same)
    refuse(5, {quoted(block), " does not load \"", x->name, "\" with one tuple of indices"});
  return out;
}

/// Whether the indices are inside of the buffer for every instance: the border of a padding reads
/// nothing.
inline bool stays_inside(const ir::block_node& block, const std::vector<ir::expr>& indices,
                         const ir::buffer& x) {
  arith::analyzer known = knowing(block.iters);
  const auto is_digit = [&](const ir::expr& index, const ir::expr& limit) {
    const int i = index->args.size() == 2 ? iter_index(block, index->args[0]) : -1;
    return i >= 0 &&
           footprints::digit_within(index, limit, block.iters[static_cast<std::size_t>(i)].dom);
  };
  for (std::size_t d = 0; d < indices.size(); ++d)
    if (!is_digit(indices[d], x->shape[d]) &&
        (!known.prove(ir::ge(indices[d], ir::integer(indices[d].type(), 0))) ||
         !known.prove(ir::lt(indices[d], x->shape[d]))))
      return false;
  return true;
}

/// What must hold where the producer stores for the consumer to store there: its instance exists and
/// reads what is made.
inline ir::expr fold_condition(const ir::block_node& producer, const store_nest& nest,
                               const ir::block_node& consumer, const std::vector<ir::expr>& loads,
                               const ir::var_map& solved) {
  arith::analyzer known = knowing(producer.iters);
  nest.tell(known);
  ir::expr out = ir::boolean(true);
  const auto need = [&](const ir::expr& condition) {
    if (!known.prove(condition)) out = ir::logical_and(out, condition);
  };
  for (const ir::iter_var& v : consumer.iters) {
    const ir::expr value = known.simplify(solved.at(v.var));
    need(ir::ge(value, v.dom.min));
    need(ir::lt(value, v.dom.min + v.dom.extent));
  }
  for (std::size_t d = 0; d < loads.size(); ++d)
    need(ir::eq(known.simplify(ir::substitute(loads[d], solved)), nest.store->indices[d]));
  return out;
}

/// The condition with the values of the block's variables in their places: its guard.
inline ir::expr as_guard(const ir::expr& condition, const child_block& block) {
  return knowing(block.loops).simplify(ir::substitute(condition, ir::bindings(*block.realize)));
}

/// The box of the point over all iterations of the nest.
inline ir::buffer_region box_of(const ir::buffer& x, const std::vector<ir::expr>& point,
                                const store_nest& nest, const arith::analyzer& known) {
  const ir::buffer_region at{x, ir::point_box(point)};
  const loop_nest loops = nest.loops();
  return loops.empty() ? at : arith::relax(at, domains(loops), known);
}

/// The producer with the consumer's expression around its own, where `condition` holds.
inline ir::block make_folded(const ir::block& producer, const store_nest& nest,
                             const ir::block_node& consumer, const ir::var_map& solved,
                             const ir::buffer& between, const ir::expr& condition) {
  const ir::store_node& inner = *nest.store;
  const ir::store_node& outer = *ir::as_store(consumer.body);
  arith::analyzer known = knowing(producer->iters);
  arith::analyzer at_store = known;
  nest.tell(at_store);
  const auto folded = [&](const ir::expr& of_consumer) {
    const auto on_expr = [&](const ir::expr& e) {
      return e->op == ir::op::load && e->buffer == between ? inner.value : e;
    };
    return ir::rewrite(ir::substitute(of_consumer, solved), on_expr);
  };
  ir::block_node out = *producer;
  std::vector<ir::expr> indices;
  for (const ir::expr& i : outer.indices) indices.push_back(at_store.simplify(folded(i)));
  out.writes = {box_of(outer.buffer, indices, nest, known)};
  const auto updated = [&](const ir::expr& e) {  // what an initialised element is updated from
    return e->op == ir::op::load && e->buffer == between ? ir::load(outer.buffer, indices) : e;
  };
  if (producer->init)
    out.init = ir::make_store(outer.buffer, indices, ir::as_store(producer->init)->value);
  out.body = nest.with(
      ir::make_store(outer.buffer, indices, ir::rewrite(folded(outer.value), updated)), condition);
  std::vector<ir::buffer_region> added;
  for (const ir::buffer_region& r : consumer.reads)
    if (r.buffer != between) added.push_back(r);
  out.reads = updated_reads(out, between, added);
  return ir::make_block(std::move(out));
}

inline ir::function backward(const ir::function& f, std::uint64_t id) {
  constexpr refusal refuse{"reverse_compute_inline"};
  const path at = need_block(f, id, "reverse_compute_inline");
  if (!at.scope()) refuse(2, "the root block cannot be inlined");
  const scoped_block consumer(at);
  const block_scope& scope = consumer.scope;
  const std::size_t child = consumer.child;
  const ir::block_node& block = consumer.block();
  check_surroundings(refuse, scope, child);
  check_no_reduction(refuse, 2, scope, child);
  if (block.writes.size() != 1 || !block.match_buffers.empty() || !ir::as_store(block.body))
    refuse(2, {"the body of ", quoted(block), " is not one store"});
  check_sight(refuse, 2, at);
  const fold pair = find_producer(refuse, scope, child);
  const child_block& producer = scope[pair.producer];
  const bound_iters& iters = bind_iters(scope[child]);
  for (std::size_t i = 0; i < block.iters.size(); ++i)
    if (!iters.understood || !(iters.clip[i] == constant_range(block.iters[i].dom)))
      refuse(4, {quoted(block), " has a predicate"});
  if (!visits_domains(scope[child]))
    refuse(4, {"the loops of ", quoted(block), " do not visit all of its domain"});
  const std::vector<ir::expr> loads = common_indices(refuse, block, pair.between);
  const std::optional<inverse> inv = invert(loads, block.iters);
  if (!inv)
    refuse(5, {"the iteration variables of ", quoted(block),
               " do not follow from the indices of its loads"});
  if (pair.producer > child || !region_covered(scope, child))
    refuse(6, {quoted(producer.block()), " has not computed all that ", quoted(block), " reads"});
  if (!stays_inside(block, loads, pair.between))
    refuse(6, {quoted(block), " has instances that read nothing of \"", pair.between->name, "\""});
  for (std::size_t l = scope.common_loops(pair.producer, child); l < producer.loops.size(); ++l)
    if (rewrites(scope, pair.producer, producer.loops[l]->var) &&
        !may_read_partial_values(scope, child))
      refuse(6, {quoted(producer.block()),
                 " overwrites its results, and others than the last ones may "
                 "not be taken"});
  const ir::var_map solved = solve(*inv, block.iters, pair.nest.store->indices);
  const ir::expr condition = fold_condition(producer.block(), pair.nest, block, loads, solved);
  const bool alone_there = pair.nest.around.empty();  // then the guard of the block can say it
  const ir::expr always = ir::boolean(true);
  const ir::expr guard = alone_there ? as_guard(condition, producer) : always;
  const ir::block folded = make_folded(producer.realize->block, pair.nest, block, solved,
                                       pair.between, alone_there ? always : condition);
  const path to = find_block(f, producer.block().id);
  const ir::function out =
      replace(f, to,
              ir::make_realize(producer.realize->values,
                               ir::logical_and(producer.realize->predicate, guard), folded));
  ir::function alone = remove(out, id, scope.root().id, pair.between);
  if (loads_from(alone.body, pair.between))
    refuse(3,
           {"a loop, a condition or the guard of a block loads \"", pair.between->name, "\" too"});
  return alone;
}

}  // namespace detail::inlining

TILEWRIGHT_INLINE ir::function reverse_compute_inline(const ir::function& f, std::uint64_t block) {
  return detail::inlining::backward(f, block);
}

TILEWRIGHT_INLINE bool can_reverse_compute_inline(const ir::function& f, std::uint64_t block) {
  return detail::accepts("reverse_compute_inline", f,
                         [&] { return reverse_compute_inline(f, block); });
}

}  // namespace tilewright::primitive
