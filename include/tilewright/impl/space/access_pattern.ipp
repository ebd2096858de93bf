#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/space/access_pattern.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::space {
namespace detail::patterns {

inline bool is_element(const ir::buffer_region& region) {
  return support::all(region.box, [](const ir::range& r) { return ir::is_int(r.extent, 1); });
}

/// Position of the written dimension that `index` follows, plus or minus a constant; -1 for a
/// constant.
inline std::optional<int> followed_dimension(const ir::expr& index,
                                             const ir::buffer_region& write) {
  const arith::linear sum = arith::to_linear(index);
  if (sum.terms.empty()) return -1;
  if (sum.terms.size() > 1 || sum.terms[0].second != 1) return std::nullopt;
  for (std::size_t d = 0; d < write.box.size(); ++d)
    if (sum.terms[0].first.same(write.box[d].min)) return static_cast<int>(d);
  return std::nullopt;
}

}  // namespace detail::patterns

TILEWRIGHT_INLINE read_pattern pattern_of_reads(const ir::block_node& block) {
  namespace patterns = detail::patterns;
  if (block.writes.size() != 1 || !patterns::is_element(block.writes[0])) return {};
  const ir::buffer_region& write = block.writes[0];
  for (const ir::range& r : write.box)
    if (!ir::is_var(r.min) && !ir::is_int(r.min)) return {};
  read_pattern out{true, true};
  for (const ir::buffer_region& read : block.reads) {
    if (!patterns::is_element(read)) return {};
    std::vector<int> followed;
    for (const ir::range& r : read.box) {
      const std::optional<int> d = patterns::followed_dimension(r.min, write);
      if (!d) return {};
      if (*d >= 0) followed.push_back(*d);
    }
    out.ordered = out.ordered && std::is_sorted(followed.begin(), followed.end());
    std::sort(followed.begin(), followed.end());
    out.injective =
        out.injective && std::adjacent_find(followed.begin(), followed.end()) == followed.end();
  }
  return out;
}

TILEWRIGHT_INLINE bool is_spatial(const ir::function& f) {
  for (const ir::block_realize_node* realize : primitive::all_blocks(f.body)) {
    const std::vector<ir::iter_var>& iters = realize->block->iters;
    if (realize->block->init ||
        !support::all(iters, [](const auto& i) { return i.kind == ir::iter_kind::spatial; }))
      return false;
  }
  return true;
}

TILEWRIGHT_INLINE bool is_trivially_bound(const schedule& s, const std::string& block) {
  const primitive::block_scope scope(*ir::root_block(s.function()));
  const int child = scope.find(named_block(s, block).block->id);
  return child >= 0 && primitive::is_trivial_binding(scope[static_cast<std::size_t>(child)]);
}

TILEWRIGHT_INLINE bool is_tiled(const schedule& s, const std::string& block) {
  return named_block(s, block).block->annotations.count(tiling_structure_key) > 0;
}

TILEWRIGHT_INLINE bool shares_operands(const schedule& s, const std::string& name) {
  const ir::block_node& block = *named_block(s, name).block;
  if (is_tiled(s, name) || block.writes.size() != 1 || block.reads.empty()) return false;
  const auto reduces = [](const ir::iter_var& i) { return i.kind == ir::iter_kind::reduce; };
  if (!support::any(block.iters, reduces)) return false;
  if (!is_trivially_bound(s, name)) return false;
  bool shared = false;
  for (std::size_t r = 0; r < block.reads.size(); ++r) {
    const ir::buffer_region& read = block.reads[r];
    for (std::size_t other = 0; other < r; ++other)
      if (block.reads[other].buffer == read.buffer) return false;
    for (const ir::range& range : read.box)
      if (!ir::is_int(range.extent)) return false;
    if (read.buffer == block.writes[0].buffer) continue;
    for (const ir::iter_var& i : block.iters) {
      const auto uses = [&](const ir::range& range) { return ir::uses_var(range.min, i.var); };
      shared = shared || (i.kind == ir::iter_kind::spatial && !ir::is_int(i.dom.extent, 1) &&
                          support::none(read.box, uses));
    }
  }
  return shared;
}

}  // namespace tilewright::space
