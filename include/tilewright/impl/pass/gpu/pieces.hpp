// Calls on pieces of buffers: what a lane has of a matrix, a row of one, and what is copied in the background.
//
// While it matters who touches what, such a call has every element of its pieces as an argument; once
// barriers stand, the first one of each piece (pass/gpu/name_pieces.hpp).
#pragma once

#include <cstddef>
#include <vector>

#include <tilewright/ir/expr.hpp>
#include <tilewright/support/dtype.hpp>

namespace tilewright::pass::detail {

/// Shared memory whose elements of 4 bytes a warp loads from four rows, eight of each, at once.
inline constexpr const char* columns_scope = "shared.columns";

inline bool is_piece_copy(const ir::expr& e) {
  return e->op == ir::op::call && (e->name == "tw_copy_async" || e->name == "tw_copy_or_zero");
}
/// Whether the copy's last argument says if there is anything to be copied; where not, zeros are stored.
inline bool has_condition(const ir::expr& e) {
  return e->op == ir::op::call && e->name == "tw_copy_or_zero";
}
inline bool is_matrix_load(const ir::expr& e) {
  return e->op == ir::op::call && (e->name == "tw_load_matrix" || e->name == "tw_load_transposed");
}
inline bool is_matrix_product(const ir::expr& e) {
  return e->op == ir::op::call && (e->name == "tw_mma" || e->name == "tw_mma_pair");
}
inline bool is_call_on_pieces(const ir::expr& e) {
  return is_matrix_product(e) || is_matrix_load(e) || is_piece_copy(e);
}

/// Elements of 16 bytes, as a row of a matrix in shared memory has them.
inline std::size_t row_elements(dtype t) { return static_cast<std::size_t>(16 / bytes(t)); }

/// Elements side by side, of which the first one is loaded.
struct piece {
  ir::expr first;
  std::size_t count;
};

/// The pieces of a call that has all their elements; what is written comes first.
inline std::vector<piece> pieces_of(const ir::expr& e) {
  const std::vector<ir::expr>& all = e->args;
  if (is_matrix_product(e)) {  // sums, one or two tiles of A, as many of B
    const std::size_t count = e->name == "tw_mma" ? 3 : 5, each = all.size() / count;
    std::vector<piece> out;
    for (std::size_t i = 0; i < count; ++i) out.push_back({all[i * each], each});
    return out;
  }
  if (is_piece_copy(e)) return {{all[0], all.size() / 2}, {all[all.size() / 2], all.size() / 2}};
  const std::size_t second = all.size() - row_elements(all.back().type());
  return {{all[0], second}, {all[second], all.size() - second}};
}

}  // namespace tilewright::pass::detail
