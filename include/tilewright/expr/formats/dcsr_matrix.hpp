// Compressed rows of which only those with elements are there (DCSR).
//
// Of a graph with many isolated nodes, or of what other parts of a matrix have left, most rows have no
// element: they cost no offset here, and a product adds to the others alone. Where no row has one, the first
// row is there, without elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <tilewright/expr/formats/converted_matrix.hpp>

namespace tilewright {

/// A sparse matrix as an argument of parameters with `dcsr<"K">`:
///
///     tw::dcsr_matrix<float> rows(graph);   // Eigen's, or csr(offsets, indices, values, columns)
///     op(rows, x, y);
///     rows.refresh(graph);                  // the same pattern, new values: a gather
template <class T, class Index = std::int32_t>
class dcsr_matrix : public detail::converted_matrix<dcsr_matrix<T, Index>, T, Index> {
  using base = detail::converted_matrix<dcsr_matrix, T, Index>;
  using rows_given = detail::csr_source<T, Index>;

 public:
  static constexpr part_format format{dim_storage::dcsr};

  /// It requires: 1) offsets that begin with 0, never decrease, and end with the number of elements;
  /// 2) indices that are in the columns and 3) rise within a row; 4) rows that indices of this type number;
  /// 5) no more bytes than the limit.
  /// @throws argument_error naming array, position and value
  template <class Matrix>
  explicit dcsr_matrix(const Matrix& m, memory_limit limit = {})
      : dcsr_matrix(rows_given::of(m, "dcsr_matrix"), limit) {}

  /// @name Arrays beside `values` and `source`, which are those of compressed rows; one place that nothing
  /// reads where there is no element
  /// @{
  const std::vector<Index>& row_numbers() const { return row_numbers_; }  // [rows that are stored]
  const std::vector<Index>& offsets() const { return offsets_; }  // [rows that are stored + 1]
  const std::vector<Index>& indices() const {
    return indices_;
  }  // [elements]
     /// @}

  /// What a call takes.
  auto arguments() const {
    auto out = detail::matrix_arguments(*this, row_numbers_, offsets_);
    out[2].extents[2] = this->rows();
    return out;
  }

  /// Calls `f(element, row, column)` for each element of the compressed rows.
  template <class Visit>
  void each_element(const Visit& f) const {
    for (std::size_t stored = 0; stored < row_numbers_.size(); ++stored)
      for (auto at = static_cast<std::size_t>(offsets_[stored]);
           at < static_cast<std::size_t>(offsets_[stored + 1]); ++at)
        f(static_cast<std::size_t>(this->source()[at]),
          static_cast<std::size_t>(row_numbers_[stored]), std::int64_t{indices_[at]});
  }

 private:
  dcsr_matrix(const rows_given& a, memory_limit limit) : base("dcsr_matrix", a) {
    const double start = detail::seconds_now();
    this->check_row_numbers();
    offsets_.assign(1, 0);
    for (std::size_t row = 0; row < static_cast<std::size_t>(a.rows); ++row) {
      if (a.length(row) == 0) continue;
      row_numbers_.push_back(static_cast<Index>(row));
      offsets_.push_back(a.offsets[row + 1]);
    }
    this->claim_bytes(static_cast<double>(a.nonzeros),
                      static_cast<double>(a.nonzeros) + 2 * static_cast<double>(offsets_.size()),
                      limit.most_bytes);
    indices_.assign(a.indices, a.indices + a.nonzeros);
    const std::size_t elements = indices_.size();
    if (elements == 0 &&
        a.rows > 0) {  // code is made for arrays that are there: nothing reads the place
      row_numbers_.assign(1, 0);
      offsets_.push_back(0);
      indices_.assign(1, 0);
    }
    this->reserve_places(indices_.size());
    for (std::size_t at = 0; at < elements; ++at) this->place(at, a, static_cast<Index>(at));
    this->took(detail::seconds_now() - start);
  }

  std::vector<Index> row_numbers_, offsets_, indices_;
};

}  // namespace tilewright
