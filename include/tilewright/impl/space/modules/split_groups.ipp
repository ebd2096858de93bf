#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include <tilewright/ir/visit.hpp>
#include <tilewright/space/access_pattern.hpp>
#include <tilewright/space/modules/split_groups.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::space {
namespace detail {

/// A variable of a block, by position, and the number of values that its last digit takes.
struct group {
  std::size_t iter;
  std::int64_t size;
};

/// The first quotient or remainder of a variable among the indices of the block's loads that splits
/// the variable's domain evenly.
inline std::optional<group> group_of(const ir::block_node& b) {
  std::optional<group> out;
  const auto look = [&](const ir::expr& e) {
    if (out || (e->op != ir::op::floordiv && e->op != ir::op::floormod)) return;
    if (!ir::is_var(e->args[0]) || !ir::is_int(e->args[1])) return;
    const std::int64_t size = ir::as_int(e->args[1]);
    for (std::size_t i = 0; i < b.iters.size(); ++i) {
      const ir::iter_var& iter = b.iters[i];
      if (!e->args[0].same(iter.var) || !ir::is_int(iter.dom.extent)) continue;
      const std::int64_t extent = ir::as_int(iter.dom.extent);
      if (size > 1 && size < extent && extent % size == 0) out = group{i, size};
    }
  };
  ir::for_each_expr(b.body, [&](const ir::expr& e) {
    if (e->op == ir::op::load)
      for (const ir::expr& index : e->args) ir::for_each_expr(index, look);
  });
  return out;
}

inline ir::index_map digits_of(const ir::block_node& b, const group& g) {
  return ir::make_index_map(b.iters.size(), [&](const std::vector<ir::var>& v) {
    std::vector<ir::expr> out;
    for (std::size_t i = 0; i < v.size(); ++i) {
      if (i != g.iter) {
        out.push_back(v[i]);
        continue;
      }
      const ir::expr size = ir::integer(v[i].type(), g.size);
      out.push_back(ir::floordiv(v[i], size));
      out.push_back(ir::floormod(v[i], size));
    }
    return out;
  });
}

}  // namespace detail

TILEWRIGHT_INLINE void split_groups(schedule& s, const std::string& block) {
  constexpr int most_digits = 4;
  for (int i = 0; i < most_digits; ++i) {
    const ir::block_node& b = *named_block(s, block).block;
    const std::optional<detail::group> g = detail::group_of(b);
    if (!g || !is_trivially_bound(s, block)) return;
    try {
      s.transform_block_layout(s.get_block(block), detail::digits_of(b, *g));
    } catch (const schedule_error&) {
      return;  // the block keeps its variables
    }
  }
}

}  // namespace tilewright::space
