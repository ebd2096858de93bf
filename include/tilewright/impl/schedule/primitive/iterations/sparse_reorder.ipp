#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <tilewright/impl/schedule/primitive/iterations/scheduled_iteration.hpp>
#include <tilewright/ir/any_expr.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/primitive/iterations/sparse_reorder.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive {
namespace detail {

/// The axes in the new order; empty where it is none of theirs.
inline std::vector<ir::sparse_iter> permuted(const std::vector<ir::sparse_iter>& iters,
                                             const std::vector<std::int64_t>& order) {
  std::vector<ir::sparse_iter> out;
  std::vector<char> seen(iters.size(), 0);
  for (const std::int64_t at : order) {
    if (at < 0 || at >= static_cast<std::int64_t>(iters.size()) ||
        seen[static_cast<std::size_t>(at)]++ > 0)
      return {};
    out.push_back(iters[static_cast<std::size_t>(at)]);
  }
  return out.size() == iters.size() ? out : std::vector<ir::sparse_iter>{};
}

/// An axis that stands before the one whose positions or coordinates it is below; null if there is none.
inline const ir::sparse_iter* before_its_rows(const std::vector<ir::sparse_iter>& iters) {
  for (std::size_t k = 0; k < iters.size(); ++k) {
    const ir::sparse_axis& above = iters[k].attached ? iters[k].attached : iters[k].axis->parent;
    for (std::size_t later = k + 1; above && later < iters.size(); ++later)
      if (iters[later].axis == above) return &iters[k];
  }
  return nullptr;
}

/// An axis that is fused with the next one, and has another one behind it now; null if there is none.
inline const ir::sparse_iter* torn_apart(const std::vector<ir::sparse_iter>& iters) {
  for (std::size_t k = 0; k < iters.size(); ++k)
    if (iters[k].fused && (k + 1 == iters.size() || !(iters[k + 1].axis->parent == iters[k].axis)))
      return &iters[k];
  return nullptr;
}

/// Axes that reduce, in their order.
inline std::vector<ir::sparse_axis> reduced(const std::vector<ir::sparse_iter>& iters) {
  std::vector<ir::sparse_axis> out;
  for (const ir::sparse_iter& i : iters)
    if (i.kind == ir::iter_kind::reduce) out.push_back(i.axis);
  return out;
}

/// One store, which combines what it finds at its place with a value that does not read the buffer.
inline bool combines_one_value(const ir::stmt& body) {
  const ir::store_node* store = ir::as_store(body);
  if (!store) return false;
  const ir::expr& value = store->value;
  const bool folds = value->op == ir::op::add || value->op == ir::op::mul ||
                     value->op == ir::op::max || value->op == ir::op::min;
  if (!folds || value->args[0]->op != ir::op::load) return false;
  return ir::equal(value->args[0], ir::load(store->buffer, store->indices)) &&
         !ir::any_expr(value->args[1], [&](const ir::expr& e) {
           return e->op == ir::op::load && e->buffer == store->buffer;
         });
}

}  // namespace detail

TILEWRIGHT_INLINE new_block sparse_reorder(const ir::function& f, std::uint64_t block,
                                           const std::vector<std::int64_t>& new_order) {
  detail::scheduled_iteration at(f, block, "sparse_reorder");
  ir::sparse_iteration& it = at.get();
  const std::vector<ir::sparse_iter> iters = detail::permuted(it.iters, new_order);
  const refusal& refuse = at.refuse();
  if (iters.empty())
    refuse(3, {"the order is no permutation of the ", it.iters.size(), " axes of iteration \"",
               it.name, "\""});
  if (const ir::sparse_iter* early = detail::before_its_rows(iters))
    refuse(4, {"axis \"", early->axis->name, "\" comes before the one whose rows it has"});
  if (const ir::sparse_iter* fused = detail::torn_apart(iters))
    refuse(4, {"axis \"", fused->axis->name, "\" is fused with another one than comes behind it"});
  if (detail::reduced(iters) != detail::reduced(it.iters) && !detail::combines_one_value(it.body))
    refuse(5, {"iteration \"", it.name,
               "\" reduces in this order: it does not combine its result with one value"});
  it.iters = iters;
  return at.lowered(6);
}

}  // namespace tilewright::primitive
