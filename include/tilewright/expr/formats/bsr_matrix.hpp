// A sparse matrix in blocks (BSR), each of which is stored whole.
//
// An index is read once for a block instead of once for an element, and a product with a block is a
// small dense one, whose results stay in registers. It suits matrices of models whose unknowns come in
// groups, and weights that were pruned by blocks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include <tilewright/expr/formats/converted_matrix.hpp>

namespace tilewright {

struct bsr_options {
  /// The conversion is refused when it would take more places than this many for each element.
  double most_padding = 8;
  /// The conversion is refused when its arrays would take more bytes than this.
  std::int64_t most_bytes = detail::no_limit;
  /// What places hold that have no element: that of the parameter, where `absent_as` says another value than 0.
  double absent = 0;
};

/// A sparse matrix as an argument of parameters with `bsr<"K", Block>`:
///
///     tw::bsr_matrix<float, 16> blocks(pruned);   // Eigen's, or csr(offsets, indices, values, columns)
///     op(blocks, x, y);
///     blocks.refresh(pruned);                     // the same pattern, new values: a gather
///
/// A block is stored where one of its elements is; the others are zeros that count as stored. Rows and
/// columns need not be multiples of the block.
template <class T, int Block, class Index = std::int32_t>
class bsr_matrix : public detail::converted_matrix<bsr_matrix<T, Block, Index>, T, Index> {
  static_assert(Block > 1 && Block <= 64, "tilewright: a block has 2 to 64 rows and columns");
  using base = detail::converted_matrix<bsr_matrix, T, Index>;
  using rows_given = detail::csr_source<T, Index>;

 public:
  static constexpr int block = Block;
  static constexpr part_format format{dim_storage::bsr, Block};

  /// It requires: 1) offsets that begin with 0, never decrease, and end with the number of elements;
  /// 2) indices that are in the columns and 3) rise within a row; 4) no more places and bytes than the options
  /// and indices of this type allow.
  /// @throws argument_error naming array, position and value
  template <class Matrix>
  explicit bsr_matrix(const Matrix& m, bsr_options options = {})
      : bsr_matrix(rows_given::of(m, "bsr_matrix"), options) {}

  /// @name Arrays beside `values` and `source`, which have places [blocks, column, row]
  /// @{
  const std::vector<Index>& offsets() const { return offsets_; }  // [rows of blocks + 1]
  const std::vector<Index>& indices() const {
    return indices_;
  }  // [blocks], columns of blocks
     /// @}

  /// What a call takes.
  auto arguments() const {
    auto out = detail::matrix_arguments(*this, offsets_);
    out[1].extents[2] = this->rows();
    out[1].extents[3] = this->padding() > 0 ? 2 : 1;
    return out;
  }

  /// Calls `f(element, row, column)` for each element of the compressed rows.
  template <class Visit>
  void each_element(const Visit& f) const {
    for (std::size_t group = 0; group + 1 < offsets_.size(); ++group)
      for (Index block_at = offsets_[group]; block_at < offsets_[group + 1]; ++block_at)
        for (std::size_t inside = 0; inside < std::size_t{Block} * Block; ++inside) {
          const auto at = static_cast<std::size_t>(block_at);
          const Index element = this->source()[at * Block * Block + inside];
          if (element >= 0)
            f(static_cast<std::size_t>(element), group * Block + inside % Block,
              std::int64_t{indices_[at]} * Block + static_cast<std::int64_t>(inside / Block));
        }
  }

 private:
  bsr_matrix(const rows_given& a, bsr_options options)
      : base("bsr_matrix", a, dsl::element_value<T>(options.absent)) {
    const double start = detail::seconds_now();
    find_blocks(a);
    const double places = static_cast<double>(indices_.size()) * Block * Block;
    this->check_places(places, options.most_padding,
                       "take smaller blocks, or allow more by most_padding");
    this->claim_bytes(places, static_cast<double>(indices_.size() + offsets_.size()),
                      options.most_bytes);
    // code is made for arrays that are there: nothing reads the block
    if (indices_.empty() && a.columns > 0) indices_.assign(1, 0);
    fill(a);
    this->took(detail::seconds_now() - start);
  }

  void find_blocks(const rows_given& a) {
    const auto rows = static_cast<std::size_t>(a.rows);
    std::vector<std::size_t> seen_in(static_cast<std::size_t>(a.columns / Block + 1), 0);
    offsets_.assign(1, 0);
    for (std::size_t first = 0; first < rows; first += Block) {
      const std::size_t group = offsets_.size();  // no other row of blocks has this number
      for (Index at = a.offsets[first]; at < a.offsets[std::min(first + Block, rows)]; ++at) {
        const Index column = a.indices[at] / Block;
        std::size_t& seen = seen_in[static_cast<std::size_t>(column)];
        if (seen != group) indices_.push_back(column);
        seen = group;
      }
      std::sort(indices_.begin() + offsets_.back(), indices_.end());
      offsets_.push_back(static_cast<Index>(indices_.size()));
    }
  }

  void fill(const rows_given& a) {
    this->reserve_places(indices_.size() * Block * Block);
    for (std::size_t row = 0; row < static_cast<std::size_t>(a.rows); ++row) {
      auto at = static_cast<std::size_t>(offsets_[row / Block]);  // columns rise in both
      for (Index from = a.offsets[row]; from < a.offsets[row + 1]; ++from) {
        const Index column = a.indices[from];
        while (indices_[at] < column / Block) ++at;
        const auto inside = static_cast<std::size_t>(column % Block);
        this->place((at * Block + inside) * Block + row % Block, a, from);
      }
    }
  }

  std::vector<Index> offsets_, indices_;
};

}  // namespace tilewright
