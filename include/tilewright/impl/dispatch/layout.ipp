#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

#include <tilewright/dispatch/layout.hpp>
#include <tilewright/ir/alternatives.hpp>
#include <tilewright/ir/rerouting.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/numbers/checked.hpp>
#include <tilewright/support/stable_sort.hpp>

namespace tilewright::dispatch {

TILEWRIGHT_INLINE std::string layout_class::text() const {
  if (!dense) return unit < 0 ? "u-" : "u" + std::to_string(unit);
  if (std::is_sorted(order.begin(), order.end())) return "r";
  std::string out = "d";
  for (const int d : order) out += std::to_string(d);
  return out;
}

TILEWRIGHT_INLINE std::vector<std::int64_t> layout_class::strides(
    const std::vector<std::int64_t>& extents) const {
  std::vector<std::int64_t> out(extents.size(), 1);
  std::int64_t stride = 1;
  if (dense) {
    for (std::size_t k = order.size(); k-- > 0;) {
      const auto d = static_cast<std::size_t>(order[k]);
      out[d] = stride;
      stride = support::saturated_product(stride, std::max<std::int64_t>(extents[d], 1));
    }
    return out;
  }
  if (unit < 0) stride = 2;
  if (unit >= 0) stride = support::saturated_sum(extents[static_cast<std::size_t>(unit)], 3);
  for (std::size_t d = extents.size(); d-- > 0;) {
    if (static_cast<int>(d) == unit) continue;
    out[d] = stride;
    stride = support::saturated_sum(support::saturated_product(stride, extents[d]), 1);
  }
  return out;
}

TILEWRIGHT_INLINE layout_class classify(std::size_t rank, const std::int64_t* extents,
                                        const std::int64_t* strides) {
  layout_class out;
  std::vector<int> by_stride(rank);
  std::iota(by_stride.begin(), by_stride.end(), 0);
  const auto stride = [&](int d) {  // its size
    const auto s = static_cast<std::uint64_t>(strides[d]);
    return strides[d] < 0 ? 0 - s : s;
  };
  const bool row_major_like = [&] {
    std::int64_t wanted = 1;
    for (std::size_t d = rank; d-- > 0;) {
      if (extents[d] != 1 && strides[d] != wanted) return false;
      wanted = support::saturated_product(wanted, extents[d]);
    }
    return true;
  }();
  if (!row_major_like)
    support::stable_sort(by_stride, [&](int a, int b) {
      if (extents[a] == 1 || extents[b] == 1) return extents[a] == 1 && extents[b] != 1;
      return stride(a) > stride(b);
    });
  std::int64_t wanted = 1;
  for (std::size_t k = rank; k-- > 0;) {
    const int d = by_stride[k];
    if (extents[d] == 1) continue;
    if (strides[d] != wanted) out.dense = false;
    wanted = support::saturated_product(wanted, extents[d]);
  }
  out.order = by_stride;
  if (out.dense) return out;
  out.order.clear();
  for (std::size_t d = 0; d < rank; ++d)
    if (strides[d] == 1 && extents[d] != 1) out.unit = static_cast<int>(d);
  return out;
}

namespace detail {

template <class T>
inline std::vector<T> permuted(const std::vector<T>& values, const std::vector<int>& order) {
  std::vector<T> out;
  for (const int d : order) out.push_back(values[static_cast<std::size_t>(d)]);
  return out;
}

/// Reorders the dimensions of tensors in their declarations and at every use.
class dimension_permuter : public ir::rerouting {
 public:
  void add(const ir::buffer& b, std::vector<int> order) {
    auto* node = new ir::buffer_node(*b);
    node->shape = permuted(b->shape, order);
    map_[b] = {ir::buffer(node), std::move(order)};
  }
  bool empty() const { return map_.empty(); }

  using ir::rerouting::mutate;
  ir::buffer mutate(const ir::buffer& b) override {
    const auto at = map_.find(b);
    return at == map_.end() ? b : at->second.first;
  }

 private:
  bool reroutes(const ir::buffer& b) const override { return map_.count(b) != 0; }
  ir::buffer_element rerouted(const ir::buffer& b, std::vector<ir::expr> indices) override {
    const auto& [to, order] = map_.at(b);
    return {to, permuted(indices, order)};
  }
  ir::buffer_region rerouted_region(ir::buffer_region r) override {
    const auto& [to, order] = map_.at(r.buffer);
    return {to, permuted(r.box, order)};
  }

  std::unordered_map<ir::buffer, std::pair<ir::buffer, std::vector<int>>> map_;
};

/// Temporaries that a block reads at the very place where it writes a tensor of another order take that order:
/// else a column-major result would be computed through a row-major temporary.
class temporary_orders : public ir::visitor {
 public:
  temporary_orders(const ir::function& f, std::map<const ir::buffer_node*, layout_class> known)
      : known_(std::move(known)) {
    for (const ir::buffer& b : ir::root_block(f)->alloc_buffers) temporaries_.insert({b.get(), b});
    do {
      grown_ = false;
      visit(f.body);
    } while (grown_);
  }

  std::vector<std::pair<ir::buffer, std::vector<int>>> found;

  using ir::visitor::visit;
  void visit(const ir::stmt& s) override {
    if (const ir::store_node* store = ir::as_store(s))
      if (const auto at = known_.find(store->buffer.get()); at != known_.end())
        ir::for_each_expr(store->value, [&](const ir::expr& e) { pass_on(e, *store, at->second); });
    ir::visitor::visit(s);
  }

 private:
  void pass_on(const ir::expr& e, const ir::store_node& store, const layout_class layout) {
    if (e->op != ir::op::load || e->args.size() != store.indices.size() ||
        known_.count(e->buffer.get()))
      return;
    const auto temporary = temporaries_.find(e->buffer.get());
    if (temporary == temporaries_.end()) return;
    for (std::size_t d = 0; d < e->args.size(); ++d)
      if (!e->args[d].same(store.indices[d]) || !ir::is_int(e->buffer->shape[d])) return;
    known_[e->buffer.get()] = layout;
    found.emplace_back(temporary->second, layout.order);
    grown_ = true;
  }

  std::map<const ir::buffer_node*, layout_class> known_;
  std::map<const ir::buffer_node*, ir::buffer> temporaries_;
  bool grown_ = false;
};

inline ir::function with_own_layouts(const ir::function& f,
                                     const std::vector<layout_class>& layouts) {
  detail::dimension_permuter permuter;
  std::map<const ir::buffer_node*, layout_class>
      orders;  // of dense parameters that are not row-major
  ir::buffer_map strided;
  for (std::size_t i = 0; i < f.params.size(); ++i) {
    const ir::buffer& b = f.params[i].buffer;
    if (!b || layouts[i].text() == "r") continue;
    if (layouts[i].dense) {
      permuter.add(b, layouts[i].order);
      orders[b.get()] = layouts[i];
      continue;
    }
    auto* node = new ir::buffer_node(*b);
    strided[b] = ir::buffer(node);
    node->strides.clear();
    for (std::size_t d = 0; d < b->shape.size(); ++d)
      node->strides.push_back(static_cast<int>(d) == layouts[i].unit
                                  ? ir::integer(dtype::i64, 1)
                                  : ir::make_var(b->name + "_s" + std::to_string(d), dtype::i64));
  }
  if (!orders.empty())
    for (auto& [b, order] : detail::temporary_orders(f, std::move(orders)).found)
      permuter.add(b, std::move(order));
  ir::function out = f;
  if (!permuter.empty()) out.body = permuter.mutate(out.body);
  if (!strided.empty()) out.body = ir::replace_buffers(out.body, strided);
  for (ir::param& p : out.params) {
    if (!p.buffer) continue;
    const auto at = strided.find(p.buffer);
    p.buffer = at == strided.end() ? permuter.mutate(p.buffer) : at->second;
  }
  return out;
}

}  // namespace detail

TILEWRIGHT_INLINE ir::function with_layouts(const ir::function& f,
                                            const std::vector<layout_class>& layouts) {
  return ir::map_alternatives(
      f, [&](const ir::function& each) { return detail::with_own_layouts(each, layouts); });
}

}  // namespace tilewright::dispatch
