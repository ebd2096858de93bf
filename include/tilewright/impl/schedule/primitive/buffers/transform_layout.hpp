// What transform_layout knows about its subject; shared by the rewriting of accesses
// (transform_layout.ipp) and the ways to fill padding (transform_layout_padding.ipp).
#pragma once

#include <string>
#include <vector>

#include <tilewright/arith/index_layout.hpp>
#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/schedule/path.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::primitive::detail::layouts {

struct task {
  ir::buffer old_buffer, new_buffer;
  ir::index_map map;
  arith::index_layout layout;
  ir::expr pad_value;  // of layout.axes; null when nothing is padded

  /// `e`, in terms of the axes, at other indices.
  ir::expr at(const ir::expr& e, const std::vector<ir::expr>& indices) const;
  /// The value of an element at new indices, or the padding there.
  ir::expr padded(const ir::expr& value, const std::vector<ir::expr>& indices) const;
};

inline constexpr refusal refuse{"transform_layout"};

/// The blocks that store to the buffer in their own bodies, in program order.
std::vector<const ir::block_realize_node*> writers(const ir::function& f, const ir::buffer& b);

/// The function with the padding filled, still with the accesses of the old layout except where the
/// new buffer is named.
ir::function with_padding(const ir::function& f, const task& t);

}  // namespace tilewright::primitive::detail::layouts
