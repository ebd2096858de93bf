// Sums of products with a factor that is the same in every term, as sums times that factor.
//
// Attention is also written with shares that are normalized before they weigh values: sum (e_j / t) v_j. The total t is
// there only when all e_j are, but (sum e_j v_j) / t needs it at the end alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/schedule/primitive/reductions/own_nest.hpp>
#include <tilewright/impl/schedule/primitive/reductions/tuple_value.hpp>
#include <tilewright/impl/schedule/rewrite/block_names.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/substitution.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive::detail::cascading {

/// A product as what depends on some variables, times what does not; null expressions stand for 1.
struct split_product {
  ir::expr moving, times, over;
};

inline split_product split_factors(const ir::expr& e, const ir::var_set& moving) {
  const auto times = [](const ir::expr& a, const ir::expr& b) { return !a ? b : !b ? a : a * b; };
  if (!ir::uses_any(e, moving) && ir::reads_memory(e)) return {{}, e, {}};
  if (e->op == ir::op::mul) {
    const split_product a = split_factors(e->args[0], moving),
                        b = split_factors(e->args[1], moving);
    return {times(a.moving, b.moving), times(a.times, b.times), times(a.over, b.over)};
  }
  if (e->op == ir::op::div && is_float(e.type())) {
    split_product a = split_factors(e->args[0], moving);
    if (ir::uses_any(e->args[1], moving))
      a.moving = ir::div(a.moving ? a.moving : ir::literal(e.type(), 1), e->args[1]);
    else
      a.over = times(a.over, e->args[1]);
    return a;
  }
  return {e, {}, {}};
}

/// Whether a block after `from` writes what `e` loads.
inline bool changes_later(const block_scope& scope, std::size_t from, const ir::expr& e) {
  for (std::size_t c = from + 1; c < scope.size(); ++c)
    for (const ir::buffer_region& w : scope[c].block().writes)
      if (ir::loads_from(e, w.buffer)) return true;
  return false;
}

/// The block that alone computes an element of `b` for each of its own, of what stays as it is; null where there is none
/// such.
inline const ir::block_node* elements_of(const block_scope& scope, const ir::buffer& b) {
  for (std::size_t c = 0; c < scope.size(); ++c) {
    const ir::block_node& block = scope[c].block();
    const ir::store_node* store = ir::as_store(block.body);
    if (!store || store->buffer != b) continue;
    const bool plain =
        support::all(store->indices, [](const ir::expr& e) { return ir::is_var(e); });
    return !block.init && plain && store->indices.size() == block.iters.size() &&
                   joining::is_nest_of_its_own(scope, c) && is_complete(scope, c) &&
                   scope.allocates(b) && !changes_later(scope, c, store->value)
               ? &block
               : nullptr;
  }
  return nullptr;
}

/// The function with the factors that a sum's elements have in common taken out of one sum; nothing where no
/// sum has any that the function computes.
inline std::optional<ir::function> with_factor_pulled(const ir::function& f) {
  const block_scope scope(*ir::root_block(f));
  if (!scope.schedulable()) return std::nullopt;
  for (std::size_t c = 0; c < scope.size(); ++c) {
    const std::optional<joining::component> sum = joining::single_of(scope, c);
    if (!sum || sum->plain.name != "sum" || !is_float(sum->to->type)) continue;
    const ir::block_node& block = scope[c].block();
    ir::var_set moving;
    std::vector<ir::iter_var> still;
    for (const ir::iter_var& i : block.iters)
      if (i.kind == ir::iter_kind::reduce)
        moving.insert(i.var);
      else
        still.push_back(i);
    // elements that are multiples of others, in terms of these
    std::optional<ir::buffer> opened;
    const ir::expr element = ir::rewrite(sum->element, [&](const ir::expr& e) {
      const ir::block_node* from =
          e->op == ir::op::load && !opened ? elements_of(scope, e->buffer) : nullptr;
      if (!from) return e;
      const ir::store_node& store = *ir::as_store(from->body);
      ir::var_map at;
      for (std::size_t d = 0; d < e->args.size(); ++d) at.emplace(store.indices[d], e->args[d]);
      const ir::expr value = ir::substitute(store.value, at);
      const split_product parts = split_factors(value, moving);
      if (!parts.moving || (!parts.times && !parts.over)) return e;
      opened = e->buffer;
      return value;
    });
    const split_product parts = split_factors(element, moving);
    const auto computed = [&](const ir::expr& e) {
      return e && support::any(ir::root_block(f)->alloc_buffers,
                               [&](const ir::buffer& b) { return ir::loads_from(e, b); });
    };
    if (!parts.moving || !(opened || computed(parts.times) || computed(parts.over))) continue;
    const ir::buffer inner = ir::make_buffer(sum->to->name + "_sum", sum->to->type, sum->to->shape);
    ir::block_node changed = block;
    changed.id = 0;
    changed.init = ir::make_store(inner, sum->at, sum->identity);
    changed.body = ir::make_store(
        inner, sum->at, sum->plain.combine({ir::load(inner, sum->at)}, {parts.moving})[0]);
    changed.reads = joining::loaded_elements({parts.moving});
    changed.writes = {{inner, ir::point_box(sum->at)}};
    ir::expr value = ir::load(inner, sum->at);
    if (parts.times) value = value * parts.times;
    if (parts.over) value = ir::div(value, parts.over);
    ir::block_node scaled;
    scaled.name = fresh_block_name(f, block.name + "_scaled");
    ir::var_map renamed;
    for (ir::iter_var i : still) {
      const ir::var v = ir::make_var(i.var->name, i.var.type());
      renamed.emplace(i.var, v);
      i.var = v;
      scaled.iters.push_back(std::move(i));
    }
    value = ir::substitute(value, renamed);
    const joining::values places = ir::substitute(sum->at, renamed);
    scaled.reads = joining::loaded_elements({value});
    scaled.writes = {{sum->to, ir::point_box(places)}};
    scaled.body = ir::make_store(sum->to, places, value);
    ir::function out = joining::put_nests(
        f, block.id, {joining::nest_of(std::move(changed)), joining::nest_of(std::move(scaled))});
    out = joining::change_buffers(out, {inner}, {});
    if (!opened) return out;
    // what nobody reads any more goes
    const block_scope after(*ir::root_block(out));
    bool read = false;
    std::uint64_t maker = 0;
    for (std::size_t other = 0; other < after.size(); ++other) {
      read = read || ir::loads_from(after[other].block().body, *opened);
      const ir::store_node* store = ir::as_store(after[other].block().body);
      if (store && store->buffer == *opened) maker = after[other].block().id;
    }
    if (!read) out = joining::change_buffers(joining::put_nests(out, maker, {}), {}, {*opened});
    return out;
  }
  return std::nullopt;
}

/// The same of all sums.
inline ir::function with_factors_pulled(ir::function f) {
  constexpr int most = 8;
  for (int i = 0; i < most; ++i) {
    std::optional<ir::function> next = with_factor_pulled(f);
    if (!next) break;
    f = std::move(*next);
  }
  return f;
}

}  // namespace tilewright::primitive::detail::cascading
