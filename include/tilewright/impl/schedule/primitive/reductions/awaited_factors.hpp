// Sums that wait for a result by which all of their terms are multiplied, or divided: the result comes in at the end instead.
//
// Attention is also written with shares that are normalized before they weigh values: sum (e_j / t) v_j. The total t is
// there only when all e_j are, but (sum e_j v_j) / t needs it at the end alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <tilewright/impl/schedule/primitive/reductions/own_nest.hpp>
#include <tilewright/impl/schedule/primitive/reductions/sum_in_two.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/substitution.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive::detail::factored {

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

/// Factors of the terms of a sum, and the buffer whose elements are replaced by the factors that they are products of.
struct opened_factors {
  product_factors factors;
  std::optional<ir::buffer> from;
};

/// Opens the first element that is a multiple of what does not move along the sum's axes.
inline opened_factors open_elements(const block_scope& scope, const product_factors& factors,
                                    const ir::var_set& moving) {
  opened_factors out;
  for (const product_factor& f : factors) {
    const ir::block_node* maker = f.value->op == ir::op::load && !f.divides && !out.from
                                      ? elements_of(scope, f.value->buffer)
                                      : nullptr;
    product_factors made;
    if (maker) {
      const ir::store_node& store = *ir::as_store(maker->body);
      ir::var_map at;
      for (std::size_t d = 0; d < f.value->args.size(); ++d)
        at.emplace(store.indices[d], f.value->args[d]);
      made = factors_of(ir::substitute(store.value, at));
    }
    const auto moves = [&](const product_factor& m) { return ir::uses_any(m.value, moving); };
    const auto stays = [&](const product_factor& m) {
      return !moves(m) && ir::reads_memory(m.value);
    };
    if (support::any(made, moves) && support::any(made, stays)) {
      out.from = f.value->buffer;
      out.factors.insert(out.factors.end(), made.begin(), made.end());
    } else {
      out.factors.push_back(f);
    }
  }
  return out;
}

/// The function without the buffer and the block that writes it, where no other one reads it.
inline ir::function without_unread(const ir::function& f, const ir::buffer& b) {
  const block_scope scope(*ir::root_block(f));
  std::uint64_t maker = 0;
  for (std::size_t c = 0; c < scope.size(); ++c) {
    if (ir::loads_from(scope[c].block().body, b)) return f;
    const ir::store_node* store = ir::as_store(scope[c].block().body);
    if (store && store->buffer == b) maker = scope[c].block().id;
  }
  return joining::change_buffers(joining::put_nests(f, maker, {}), {}, {b});
}

/// The function with one sum of floats that waits for none of its factors; nothing where no sum has any that the function
/// computes.
inline std::optional<ir::function> without_one_wait(const ir::function& f) {
  const block_scope scope(*ir::root_block(f));
  if (!scope.schedulable()) return std::nullopt;
  for (std::size_t c = 0; c < scope.size(); ++c) {
    const std::optional<component> sum = joining::single_of(scope, c);
    if (!sum || !may_be_in_two(*sum) || !is_float(sum->to->type)) continue;
    const ir::block_node& block = scope[c].block();
    ir::var_set moving;
    for (const ir::iter_var& i : block.iters)
      if (i.kind == ir::iter_kind::reduce) moving.insert(i.var);
    const opened_factors opened = open_elements(scope, factors_of(sum->element), moving);
    const factoring way = factoring_of(block, opened.factors, moving);
    const auto computed = [&](const product_factor& factor) {
      return support::any(ir::root_block(f)->alloc_buffers,
                          [&](const ir::buffer& b) { return ir::loads_from(factor.value, b); });
    };
    if (way.inner.empty() || !(opened.from || support::any(way.outer, computed))) continue;
    const ir::function out = in_two(f, block, *sum, way, named_sum::inner);
    return opened.from ? without_unread(out, *opened.from) : out;
  }
  return std::nullopt;
}

/// The same of all sums.
inline ir::function without_waits(ir::function f) {
  constexpr int most = 8;
  for (int i = 0; i < most; ++i) {
    std::optional<ir::function> next = without_one_wait(f);
    if (!next) break;
    f = std::move(*next);
  }
  return f;
}

}  // namespace tilewright::primitive::detail::factored
