// A sparse matrix whose rows have the same number of places (ELL).
//
// No offset is read and no loop depends on data: it suits rows of one length, such as those of stencils,
// of nearest neighbours, and of weights of which n in m are kept.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <tilewright/expr/formats/converted_matrix.hpp>

namespace tilewright {

/// A sparse matrix as an argument of parameters with `ell<"K", Width>`:
///
///     tw::ell_matrix<float, 27> rows(stencil);   // Eigen's, or csr(offsets, indices, values, columns)
///     op(rows, x, y);
///     rows.refresh(stencil);                     // the same pattern, new values: a gather
template <class T, int Width, class Index = std::int32_t>
class ell_matrix : public detail::converted_matrix<ell_matrix<T, Width, Index>, T, Index> {
  static_assert(Width > 0 && Width <= 4096, "tilewright: a row has 1 to 4096 places");
  using base = detail::converted_matrix<ell_matrix, T, Index>;
  using rows_given = detail::csr_source<T, Index>;

 public:
  static constexpr int width = Width;
  static constexpr part_format format{dim_storage::ell, Width};

  /// It requires: 1) offsets that begin with 0, never decrease, and end with the number of elements;
  /// 2) indices that are in the columns and 3) rise within a row; 4) no row of more than `Width`
  /// elements; 5) no more places than indices of this type count, and no more bytes than the limit.
  /// @throws argument_error naming array or row, position and value
  template <class Matrix>
  explicit ell_matrix(const Matrix& m, memory_limit limit = {})
      : ell_matrix(rows_given::of(m, "ell_matrix"), limit) {}

  /// @name Arrays beside `values` and `source`, which have places [rows, Width]
  /// @{
  const std::vector<Index>& lengths() const { return lengths_; }  // [rows], elements
  const std::vector<Index>& indices() const {
    return indices_;
  }  // [rows, Width]
     /// @}

  /// What a call takes.
  auto arguments() const { return detail::matrix_arguments(*this, lengths_); }

  /// Calls `f(element, row, column)` for each element of the compressed rows.
  template <class Visit>
  void each_element(const Visit& f) const {
    for (std::size_t row = 0; row < lengths_.size(); ++row) {
      const std::size_t first = row * Width;
      for (std::size_t at = first; at < first + static_cast<std::size_t>(lengths_[row]); ++at)
        f(static_cast<std::size_t>(this->source()[at]), row, std::int64_t{indices_[at]});
    }
  }

 private:
  ell_matrix(const rows_given& a, memory_limit limit) : base("ell_matrix", a) {
    const double start = detail::seconds_now();
    const auto rows = static_cast<std::size_t>(a.rows);
    for (std::size_t row = 0; row < rows; ++row) {
      if (a.length(row) > Width)
        throw argument_error("ell_matrix: row " + std::to_string(row) + " has " +
                             std::to_string(a.length(row)) + " elements, and there are " +
                             std::to_string(Width) + " places; widen ell<\"K\", " +
                             std::to_string(Width) + ">, or declare it compressed");
      lengths_.push_back(static_cast<Index>(a.length(row)));
    }
    this->check_places(static_cast<double>(a.rows) * Width, std::numeric_limits<double>::infinity(),
                       "");
    this->claim_bytes(static_cast<double>(a.rows) * Width,
                      static_cast<double>(a.rows) * (Width + 1), limit.most_bytes);
    indices_.assign(rows * Width, 0);
    this->reserve_places(rows * Width);
    for (std::size_t row = 0; row < rows; ++row) fill(a, row);
    this->took(detail::seconds_now() - start);
  }

  void fill(const rows_given& a, std::size_t row) {
    std::size_t to = row * Width;
    for (Index from = a.offsets[row]; from < a.offsets[row + 1]; ++from, ++to) {
      indices_[to] = a.indices[from];
      this->place(to, a, from);
    }
    for (; to < (row + 1) * Width; ++to)  // a line that the row has read just before
      indices_[to] = lengths_[row] > 0 ? indices_[to - 1] : Index(0);
  }

  std::vector<Index> lengths_, indices_;
};

}  // namespace tilewright
