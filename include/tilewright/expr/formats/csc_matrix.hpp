// Compressed sparse columns (CSC).
//
// A sum along a column is what a row is in compressed rows, and a sum along a row adds a multiple of each
// column to the result: it suits products with the transposed matrix, and matrices that come by columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <tilewright/expr/formats/converted_matrix.hpp>

namespace tilewright {

/// A sparse matrix as an argument of parameters with `csc<"K">`, made of one that is stored by rows; one
/// of Eigen's that is stored by columns is such an argument as it stands:
///
///     tw::csc_matrix<float> columns(graph);   // Eigen's, or csr(offsets, indices, values, columns)
///     op(columns, x, y);
///     columns.refresh(graph);                 // the same pattern, new values: a gather
template <class T, class Index = std::int32_t>
class csc_matrix : public detail::converted_matrix<csc_matrix<T, Index>, T, Index> {
  using base = detail::converted_matrix<csc_matrix, T, Index>;
  using rows_given = detail::csr_source<T, Index>;

 public:
  static constexpr part_format format{dim_storage::csc};

  /// It requires: 1) offsets that begin with 0, never decrease, and end with the number of elements;
  /// 2) indices that are in the columns and 3) rise within a row; 4) rows that indices of this type number;
  /// 5) no more bytes than the limit.
  /// @throws argument_error naming array, position and value
  template <class Matrix>
  explicit csc_matrix(const Matrix& m, memory_limit limit = {})
      : csc_matrix(rows_given::of(m, "csc_matrix"), limit) {}

  /// @name Arrays beside `values` and `source`, which are those of columns
  /// @{
  const std::vector<Index>& offsets() const { return offsets_; }  // [columns + 1]
  const std::vector<Index>& indices() const { return indices_; }  // [elements], numbers of rows
  /// @}

  /// What a call takes.
  auto arguments() const {
    auto out = detail::matrix_arguments(*this, offsets_);
    out[1].extents[1] = this->rows();
    return out;
  }

  /// Calls `f(element, row, column)` for each element of the compressed rows.
  template <class Visit>
  void each_element(const Visit& f) const {
    for (std::size_t column = 0; column + 1 < offsets_.size(); ++column)
      for (auto at = static_cast<std::size_t>(offsets_[column]);
           at < static_cast<std::size_t>(offsets_[column + 1]); ++at)
        f(static_cast<std::size_t>(this->source()[at]), static_cast<std::size_t>(indices_[at]),
          static_cast<std::int64_t>(column));
  }

 private:
  csc_matrix(const rows_given& a, memory_limit limit) : base("csc_matrix", a) {
    const double start = detail::seconds_now();
    this->check_row_numbers();
    this->claim_bytes(static_cast<double>(a.nonzeros),
                      static_cast<double>(a.nonzeros) + static_cast<double>(a.columns) + 1,
                      limit.most_bytes);
    offsets_.assign(static_cast<std::size_t>(a.columns) + 1, 0);
    const auto count = static_cast<std::size_t>(a.nonzeros);
    for (std::size_t at = 0; at < count; ++at)
      ++offsets_[static_cast<std::size_t>(a.indices[at]) + 1];
    for (std::size_t column = 0; column + 1 < offsets_.size(); ++column)
      offsets_[column + 1] += offsets_[column];
    indices_.resize(count);
    this->reserve_places(count);
    std::vector<Index> next(offsets_.begin(), offsets_.end() - 1);
    for (std::size_t row = 0; row < static_cast<std::size_t>(a.rows); ++row)
      for (Index from = a.offsets[row]; from < a.offsets[row + 1]; ++from) {
        const auto to = static_cast<std::size_t>(next[static_cast<std::size_t>(a.indices[from])]++);
        indices_[to] = static_cast<Index>(row);
        this->place(to, a, from);
      }
    this->took(detail::seconds_now() - start);
  }

  std::vector<Index> offsets_, indices_;
};

}  // namespace tilewright
