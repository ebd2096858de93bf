#pragma once

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include <tilewright/ir/visit.hpp>
#include <tilewright/search/layout.hpp>

namespace tilewright::search {

TILEWRIGHT_INLINE std::string layout_class::text() const {
  if (!dense) return unit < 0 ? "u-" : "u" + std::to_string(unit);
  if (std::is_sorted(order.begin(), order.end())) return "r";
  std::string out = "d";
  for (const int d : order) out += std::to_string(d);
  return out;
}

TILEWRIGHT_INLINE std::vector<std::int64_t> layout_class::strides(const std::vector<std::int64_t>& extents) const {
  std::vector<std::int64_t> out(extents.size(), 1);
  std::int64_t stride = 1;
  if (dense) {
    for (std::size_t k = order.size(); k-- > 0;) {
      const auto d = static_cast<std::size_t>(order[k]);
      out[d] = stride;
      stride *= std::max<std::int64_t>(extents[d], 1);
    }
    return out;
  }
  if (unit < 0) stride = 2;
  if (unit >= 0) stride = extents[static_cast<std::size_t>(unit)] + 3;
  for (std::size_t d = extents.size(); d-- > 0;) {
    if (static_cast<int>(d) == unit) continue;
    out[d] = stride;
    stride = stride * extents[d] + 1;
  }
  return out;
}

TILEWRIGHT_INLINE layout_class classify(std::size_t rank, const std::int64_t* extents, const std::int64_t* strides) {
  layout_class out;
  std::vector<int> by_stride(rank);
  std::iota(by_stride.begin(), by_stride.end(), 0);
  const auto stride = [&](int d) { return std::abs(strides[d]); };
  const bool row_major_like = [&] {
    std::int64_t wanted = 1;
    for (std::size_t d = rank; d-- > 0;) {
      if (extents[d] != 1 && strides[d] != wanted) return false;
      wanted *= extents[d];
    }
    return true;
  }();
  if (!row_major_like)
    std::stable_sort(by_stride.begin(), by_stride.end(), [&](int a, int b) {
      if (extents[a] == 1 || extents[b] == 1) return extents[a] == 1 && extents[b] != 1;
      return stride(a) > stride(b);
    });
  std::int64_t wanted = 1;
  for (std::size_t k = rank; k-- > 0;) {
    const int d = by_stride[k];
    if (extents[d] == 1) continue;
    if (strides[d] != wanted) out.dense = false;
    wanted *= extents[d];
  }
  out.order = by_stride;
  if (out.dense) return out;
  out.order.clear();
  for (std::size_t d = 0; d < rank; ++d)
    if (strides[d] == 1 && extents[d] != 1) out.unit = static_cast<int>(d);
  return out;
}

TILEWRIGHT_INLINE ir::function with_layouts(const ir::function& f, const std::vector<layout_class>& layouts) {
  ir::buffer_map changed;
  ir::function out = f;
  for (std::size_t i = 0; i < f.params.size(); ++i) {
    const ir::buffer& b = f.params[i].buffer;
    if (!b || layouts[i].text() == "r") continue;
    auto* node = new ir::buffer_node(*b);
    const ir::buffer fresh(node);
    node->strides.clear();
    if (layouts[i].dense) {
      std::vector<std::int64_t> extents;
      for (const ir::expr& e : b->shape) extents.push_back(ir::as_int(e));
      for (const std::int64_t s : layouts[i].strides(extents)) node->strides.push_back(ir::integer(dtype::i64, s));
    } else {
      for (std::size_t d = 0; d < b->shape.size(); ++d)
        node->strides.push_back(static_cast<int>(d) == layouts[i].unit
                                    ? ir::integer(dtype::i64, 1)
                                    : ir::make_var(b->name + "_s" + std::to_string(d), dtype::i64));
    }
    changed[b] = fresh;
    out.params[i].buffer = fresh;
  }
  if (!changed.empty()) out.body = ir::replace_buffers(f.body, changed);
  return out;
}

}  // namespace tilewright::search
