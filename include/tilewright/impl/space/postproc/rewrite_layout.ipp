#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/impl/dependence/cover/footprint.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/ir/bound_weights.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/space/postproc/rewrite_layout.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/support/numbers/radix.hpp>
#include <tilewright/support/stable_sort.hpp>

namespace tilewright::space {
namespace detail::packing {

/// The part of an index that one loop drives: floormod(floordiv(index, step), extent).
struct digit {
  std::size_t dimension = 0;
  std::int64_t step = 1, extent = 1;
  bool leading = false;  // of its dimension
  int loop = -1;         // position; -1 for a dimension that never moves
};

/// The one way in which the block reads the buffer; nothing when it has several.
inline std::optional<std::vector<ir::expr>> indices_of(const ir::block_node& block,
                                                       const ir::buffer& b) {
  std::optional<std::vector<ir::expr>> out;
  bool one = true;
  ir::for_each_expr(block.body, [&](const ir::expr& e) {
    if (e->op != ir::op::load || e->buffer != b) return;
    if (!out) out = e->args;
    for (std::size_t d = 0; d < e->args.size(); ++d) one = one && ir::equal(e->args[d], (*out)[d]);
  });
  return one ? out : std::nullopt;
}

/// Digits of one dimension, most significant first; empty where the index is something else.
inline std::vector<digit> digits_of(const arith::linear& index, std::size_t dimension,
                                    std::int64_t shape, const primitive::child_block& child) {
  std::vector<digit> out;
  for (const auto& [term, step] : index.terms) {
    const int at = primitive::loop_index(child.loops, term);
    if (at < 0 || !ir::is_int(child.loops[static_cast<std::size_t>(at)]->extent)) return {};
    const std::int64_t extent = child.loops[static_cast<std::size_t>(at)]->extent->integer;
    if (extent > 1) out.push_back({dimension, step, extent, false, at});
  }
  if (index.constant != 0) return {};
  std::sort(out.begin(), out.end(), [](const digit& a, const digit& b) { return a.step > b.step; });
  support::radix steps;
  for (const digit& d : out) steps.add(d.step, d.extent);
  if (!steps.is_exact() || steps.reach() + 1 != shape) return {};
  if (out.empty()) out.push_back({dimension, 1, 1, true, -1});
  out.front().leading = true;
  return out;
}

/// All digits of an access in the order of their loops; nothing when that is no new order.
inline std::optional<std::vector<digit>> order_of(const primitive::child_block& child,
                                                  const ir::buffer& b,
                                                  const std::vector<ir::expr>& indices) {
  std::vector<digit> all;
  for (std::size_t d = 0; d < indices.size(); ++d) {
    if (!ir::is_int(b->shape[d])) return std::nullopt;
    const std::vector<digit> own =
        digits_of(primitive::in_loops(indices[d], child), d, b->shape[d]->integer, child);
    if (own.empty()) return std::nullopt;
    all.insert(all.end(), own.begin(), own.end());
  }
  const auto outer = [](const digit& x, const digit& y) { return x.loop < y.loop; };
  if (std::is_sorted(all.begin(), all.end(), outer)) return std::nullopt;
  support::stable_sort(all, outer);
  return all;
}

inline ir::index_map map_of(std::size_t rank, const std::vector<digit>& order) {
  return ir::make_index_map(rank, [&](const std::vector<ir::var>& v) {
    std::vector<ir::expr> out;
    for (const digit& d : order) {
      ir::expr e = v[d.dimension];
      const dtype type = e.type();
      if (d.step > 1) e = ir::floordiv(e, ir::integer(type, d.step));
      if (!d.leading) e = ir::floormod(e, ir::integer(type, d.extent));
      out.push_back(std::move(e));
    }
    return out;
  });
}

inline bool is_copy(const ir::block_node& block) {
  const ir::store_node* store = ir::as_store(block.body);
  return store && !block.init && store->value->op == ir::op::load;
}

/// The only block of the root that reads the buffer; nothing when there are several.
inline std::optional<std::size_t> reader_of(const primitive::block_scope& scope,
                                            const ir::buffer& b) {
  std::optional<std::size_t> out;
  for (std::size_t c = 0; c < scope.size(); ++c)
    for (const ir::buffer_region& r : scope[c].block().reads)
      if (r.buffer == b) {
        if (out) return std::nullopt;
        out = c;
      }
  return out;
}

inline void pack(schedule& s, const ir::buffer& weight) {
  const ir::block root = ir::root_block(s.function());
  const primitive::block_scope scope(*root);
  const std::optional<std::size_t> reader = reader_of(scope, weight);
  if (!reader || is_copy(scope[*reader].block()) || !weight->strides.empty()) return;
  const ir::block_node& block = scope[*reader].block();
  const auto indices = indices_of(block, weight);
  const auto order = indices ? order_of(scope[*reader], weight, *indices) : std::nullopt;
  if (!order) return;
  int at = 0;
  while (block.reads[static_cast<std::size_t>(at)].buffer != weight) ++at;
  const block_rv copy = s.cache_read(s.get_block(block.name), at, "global");
  s.transform_layout(copy, written_buffer(0), map_of(indices->size(), *order));
  s.annotate(copy, "meta_schedule.layout_rewrite_preproc", 1);
}

}  // namespace detail::packing

TILEWRIGHT_INLINE void rewrite_layout::operator()(schedule& s, const context&) const {
  for (const ir::buffer& weight : ir::bound_weights(s.function())) detail::packing::pack(s, weight);
}

}  // namespace tilewright::space
