// Calls on pieces of buffers: what a lane has of a matrix, a row of one, and what is copied in the background.
//
// Such a call names the first element of each of its pieces, what is written first; its name and types, of a copy the last
// argument, say how many there are.
//
//   tw_mma(C[i, j, 0], A[i, 0, 0], B[j, 0, 0])   8 elements a lane of each
//   tw_load_matrix(A[i, 0, 0], S[r, c])          what a lane gets by one load, from rows of 16 bytes
//   tw_copy_async(S[c], A[i], 8)                 8 elements
#pragma once

#include <algorithm>
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

/// Elements of a matrix of 16 x 16 that each lane of a warp has.
inline constexpr std::size_t lane_elements = 8;

/// Elements that a lane gets by one load of matrices: four registers of 4 bytes at most.
inline std::size_t loaded_elements(dtype t) { return std::min(row_elements(t), lane_elements); }

/// Elements side by side, of which the first one is loaded.
struct piece {
  const ir::expr* first;
  std::size_t count;
};

/// Calls `f` on each piece of a call on pieces; what is written comes first.
template <class F>
void each_piece(const ir::expr& e, const F& f) {
  const std::vector<ir::expr>& all = e->args;
  if (is_matrix_product(e)) {
    for (const ir::expr& first : all) f(piece{&first, lane_elements});
    return;
  }
  if (is_piece_copy(e)) {
    const auto count = static_cast<std::size_t>(ir::as_int(all.back()));
    f(piece{&all[0], count});
    f(piece{&all[1], count});
    return;
  }
  f(piece{&all[0], loaded_elements(all[0].type())});
  f(piece{&all[1], row_elements(all[1].type())});
}

}  // namespace tilewright::pass::detail
