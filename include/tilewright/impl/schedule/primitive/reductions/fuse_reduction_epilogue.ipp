#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/impl/dependence/cover/point_access.hpp>
#include <tilewright/impl/schedule/analysis/reducer.hpp>
#include <tilewright/impl/schedule/analysis/reduction_form.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/legality/scoped_block.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/storage_scope.hpp>
#include <tilewright/ir/substitution.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/primitive/reductions/fuse_reduction_epilogue.hpp>
#include <tilewright/support/find.hpp>

namespace tilewright::primitive {
namespace detail::epilogue {

inline constexpr refusal refuse{"fuse_reduction_epilogue"};

/// The two blocks, and the one load between them.
struct pair {
  const child_block* reduction = nullptr;
  const child_block* epilogue = nullptr;
  const ir::store_node* sum = nullptr;    // the update of the reduction
  const ir::store_node* store = nullptr;  // of the epilogue
  ir::expr load;                          // of the result, in the epilogue
  matched_reducer reducer;
};

/// The result with the neighbour, where the combination commutes with the reduction.
inline std::optional<ir::expr> start_value(const pair& p) {
  const ir::expr &value = p.store->value, identity = p.reducer.identity[0];
  if (value.same(p.load)) return identity;
  if (value->args.size() != 2) return std::nullopt;
  const bool left = value->args[0].same(p.load), right = value->args[1].same(p.load);
  if (left == right) return std::nullopt;
  const ir::expr& other = value->args[left ? 1 : 0];
  if (loads_from(other, p.load->buffer)) return std::nullopt;
  const ir::op update = p.sum->value->op;
  if (value->op == update)
    return update == ir::op::max || update == ir::op::min
               ? ir::with_args(value, {identity, other})  // not neutral to infinities
               : other;
  if (value->op == ir::op::sub && update == ir::op::add && left) return identity - other;
  return std::nullopt;
}

inline void check_reduction(const block_scope& scope, std::size_t child, pair& p) {
  const ir::block_node& b = p.reduction->block();
  check_reduction(refuse, 2, scope, child);
  if (is_output(scope, child) || b.writes.size() != 1)
    refuse(2, {quoted(b), " must write one buffer that its scope allocates"});
  reduction_form form;
  const std::string trouble = find_reduction_form(b, form);
  if (!trouble.empty() || form.stores.size() != 1 || form.stores[0] != ir::as_store(b.body))
    refuse(2, {quoted(b), " is not in normal form", (trouble.empty() ? "" : ": " + trouble)});
  p.sum = form.stores[0];
  const ir::expr accumulated = ir::load(p.sum->buffer, p.sum->indices);
  std::optional<matched_reducer> found = match_reducer(form.identity, {accumulated}, form.updates);
  if (!found) refuse(2, {"identity and combination of ", quoted(b), " are of no known reducer"});
  p.reducer = std::move(*found);
}

inline void check_epilogue(const block_scope& scope, std::size_t child, pair& p) {
  const ir::block_node& b = p.epilogue->block();
  check_complete(refuse, 3, scope, child);
  p.store = ir::as_store(b.body);
  if (!p.store) refuse(3, {"the body of ", quoted(b), " is not one store"});
  if (!ir::is_true(p.epilogue->realize->predicate)) refuse(3, {quoted(b), " has a predicate"});
  std::vector<ir::expr> loads;
  ir::for_each_expr(b.body, [&](const ir::expr& e) {
    if (e->op == ir::op::load && e->buffer == p.sum->buffer) loads.push_back(e);
  });
  if (loads.size() != 1)
    refuse(4, {quoted(b), " must load \"", p.sum->buffer->name, "\" exactly once"});
  p.load = loads[0];
  if (!visits_domains(*p.epilogue)) refuse(3, {quoted(b), " does not visit all of its domain"});
  if (!point_access::instances_apart(b, p.store->indices))
    refuse(3, {quoted(b), " stores some elements more than once"});
}

/// Nobody else sees the result, and nothing that the epilogue touches changes before it.
inline void check_neighbours(const block_scope& scope, std::size_t reduction, std::size_t epilogue,
                             const pair& p) {
  const std::vector<std::size_t> users = readers(scope, reduction);
  if (users != std::vector<std::size_t>{epilogue})
    refuse(4, {quoted(p.epilogue->block()), " is not the only reader of \"", p.sum->buffer->name,
               "\""});
  if (earlier_user(scope, epilogue) >= 0)
    refuse(1, {"a block before ", quoted(p.epilogue->block()), " uses what it writes"});
  // an earlier writer goes on after the reduction where loops repeat both, without the epilogue
  const auto still_writes = [&](std::size_t w) {
    return w >= reduction || scope.common_loops(w, reduction) > scope.common_loops(w, epilogue);
  };
  for (std::size_t w = 0; w < scope.size(); ++w)
    for (const ir::buffer_region& out : scope[w].block().writes)
      for (const ir::buffer_region& in : p.epilogue->block().reads)
        if (w != epilogue && in.buffer == out.buffer && in.buffer != p.sum->buffer &&
            still_writes(w))
          refuse(1, {quoted(scope[w]), " writes \"", in.buffer->name, "\", which ",
                     quoted(p.epilogue->block()), " reads"});
}

/// What threads have each for itself is reached below their loops alone, which both blocks share.
inline void check_memory(const block_scope& scope, std::size_t reduction, std::size_t epilogue,
                         const pair& p) {
  const std::size_t common = scope.common_loops(reduction, epilogue);
  const auto check = [&](const ir::buffer& x) {
    for (const child_block* c : {p.reduction, p.epilogue})
      for (std::size_t l = common; l < c->loops.size() && x != p.sum->buffer; ++l)
        if (c->loops[l]->loop == ir::loop_kind::thread_binding && ir::storage_rank(x->scope) > 0 &&
            !ir::shared_across(x->scope, *c->loops[l]))
          refuse(1, {"the threads of ", quoted(*c->loops[l]), " have \"", x->name,
                     "\" each for itself"});
  };
  for (const auto* list : {&p.epilogue->block().reads, &p.epilogue->block().writes})
    for (const ir::buffer_region& r : *list) check(r.buffer);
}

/// Iteration variables of the epilogue in terms of those of the reduction.
inline ir::var_map match_variables(const pair& p) {
  const ir::block_node &from = p.epilogue->block(), &to = p.reduction->block();
  const auto iter_of = [](const ir::block_node& b, const ir::expr& v) {
    return support::find(b.iters, [&](const ir::iter_var& i) { return i.var.same(v); });
  };
  const arith::analyzer known;
  ir::var_map out;
  for (std::size_t d = 0; d < p.load->args.size(); ++d) {
    const auto mine = iter_of(from, p.load->args[d]), theirs = iter_of(to, p.sum->indices[d]);
    if (mine == from.iters.end() || theirs == to.iters.end() || out.count(mine->var))
      refuse(4, {"the indices of \"", p.sum->buffer->name,
                 "\" must be iteration variables of both blocks, each once"});
    if (!known.prove_equal(mine->dom.min, theirs->dom.min) ||
        !known.prove_equal(mine->dom.extent, theirs->dom.extent))
      refuse(4, {quoted(from), " runs over another domain than ", quoted(to), " along \"",
                 mine->var->name, "\""});
    out.emplace(mine->var, p.sum->indices[d]);
  }
  for (const ir::iter_var& v : from.iters)
    if (!out.count(v.var)) {
      if (!ir::is_int(v.dom.extent, 1))
        refuse(4, {"\"", v.var->name, "\" of ", quoted(from), " indexes nothing of \"",
                   p.sum->buffer->name, "\""});
      out.emplace(v.var, v.dom.min);
    }
  return out;
}

inline ir::block make_fused(const pair& p, const ir::var_map& vars, const ir::expr& start) {
  ir::block_node out = p.reduction->block();
  const std::vector<ir::expr> indices = ir::substitute(p.store->indices, vars);
  const ir::expr accumulated = ir::load(p.store->buffer, indices);
  const ir::expr update = ir::rewrite(p.sum->value, [&](const ir::expr& e) {
    return e->op == ir::op::load && e->buffer == p.sum->buffer ? accumulated : e;
  });
  out.reads.clear();
  for (const ir::buffer_region& r : p.epilogue->block().reads)
    if (r.buffer != p.sum->buffer) out.reads.push_back(ir::substitute(r, vars));
  const std::vector<ir::buffer_region>& own = p.reduction->block().reads;
  out.reads.insert(out.reads.end(), own.begin(), own.end());
  out.writes = {{p.store->buffer, ir::point_box(indices)}};
  out.init = ir::make_store(p.store->buffer, indices, ir::substitute(start, vars));
  out.body = ir::make_store(p.store->buffer, indices, update);
  return ir::make_block(std::move(out));
}

}  // namespace detail::epilogue

TILEWRIGHT_INLINE ir::function fuse_reduction_epilogue(const ir::function& f,
                                                       std::uint64_t reduction,
                                                       std::uint64_t epilogue) {
  using namespace detail::epilogue;
  const path at = need_block(f, reduction, "fuse_reduction_epilogue");
  const path last = need_block(f, epilogue, "fuse_reduction_epilogue");
  if (!at.scope() || last.scope() != at.scope()) refuse(1, "the blocks are not in one scope");
  const block_scope scope(*at.scope()->block);
  if (!scope.schedulable()) refuse(1, "the scope holds statements that are not blocks");
  const auto first_child = scope.position(reduction);
  const auto last_child = scope.position(epilogue);
  pair p;
  p.reduction = &scope[first_child];
  p.epilogue = &scope[last_child];
  check_sight(refuse, 3, last);
  check_reduction(scope, first_child, p);
  check_epilogue(scope, last_child, p);
  check_neighbours(scope, first_child, last_child, p);
  check_memory(scope, first_child, last_child, p);
  const ir::var_map vars = match_variables(p);
  const std::optional<ir::expr> start = start_value(p);
  if (!start || p.store->buffer->type != p.sum->buffer->type)
    refuse(5, {"what ", quoted(p.epilogue->block()), " does with \"", p.sum->buffer->name,
               "\" does not commute with the reduction"});
  const ir::function without = replace(f, last, ir::stmt{});
  ir::function out =
      replace_block(without, find_block(without, reduction), make_fused(p, vars, *start));
  if (loads_from(out.body, p.sum->buffer))
    refuse(4, {"a loop or the guard of a block loads \"", p.sum->buffer->name, "\" too"});
  return out;
}

}  // namespace tilewright::primitive
