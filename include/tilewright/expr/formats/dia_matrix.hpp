// A sparse matrix by its diagonals (DIA), each of which is stored whole.
//
// Neither an index nor an offset is read for an element, and neighbouring rows read neighbouring elements
// of the other operand: it suits stencils on a grid, and bands.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/expr/formats/converted_matrix.hpp>

namespace tilewright {

struct dia_options {
  /// The conversion is refused when it would take more places than this many for each element.
  double most_padding = 8;
  /// The conversion is refused when its arrays would take more bytes than this.
  std::int64_t most_bytes = detail::no_limit;
  /// What places hold that have no element: that of the parameter, where `absent_as` says another value than 0.
  double absent = 0;
};

/// A sparse matrix as an argument of parameters with `dia<"K">`:
///
///     tw::dia_matrix<float> diagonals(stencil);   // Eigen's, or csr(offsets, indices, values, columns)
///     op(diagonals, x, y);
///     diagonals.refresh(stencil);                 // the same pattern, new values: a gather
///
/// A diagonal is stored where one of its elements is; the others are zeros that count as stored.
template <class T, class Index = std::int32_t>
class dia_matrix : public detail::converted_matrix<dia_matrix<T, Index>, T, Index> {
  using base = detail::converted_matrix<dia_matrix, T, Index>;
  using rows_given = detail::csr_source<T, Index>;

 public:
  static constexpr part_format format{dim_storage::dia};

  /// It requires: 1) offsets that begin with 0, never decrease, and end with the number of elements;
  /// 2) indices that are in the columns and 3) rise within a row; 4) no more places and bytes than the options
  /// and indices of this type allow.
  /// @throws argument_error naming array, position and value
  template <class Matrix>
  explicit dia_matrix(const Matrix& m, dia_options options = {})
      : dia_matrix(rows_given::of(m, "dia_matrix"), options) {}

  /// Column minus row on each diagonal, rising; beside `values` and `source`, which have places
  /// [diagonals, rows].
  const std::vector<Index>& offsets() const { return offsets_; }  // [diagonals]

  /// What a call takes.
  std::array<dsl::argument, 2> arguments() const {
    std::array<dsl::argument, 2> out{dsl::vector_argument(offsets_),
                                     dsl::vector_argument(this->values())};
    out[0].extents[1] = this->rows();
    out[0].extents[2] = this->columns();
    return out;
  }

  /// Calls `f(element, row, column)` for each element of the compressed rows.
  template <class Visit>
  void each_element(const Visit& f) const {
    const auto rows = static_cast<std::size_t>(this->rows());
    for (std::size_t at = 0; at < offsets_.size() * rows; ++at)
      if (const Index element = this->source()[at]; element >= 0)
        f(static_cast<std::size_t>(element), at % rows,
          std::int64_t{offsets_[at / rows]} + static_cast<std::int64_t>(at % rows));
  }

 private:
  dia_matrix(const rows_given& a, dia_options options)
      : base("dia_matrix", a, dsl::element_value<T>(options.absent)) {
    const double start = detail::seconds_now();
    const auto rows = static_cast<std::size_t>(a.rows);
    const std::vector<Index> number = number_diagonals(a);
    this->check_places(static_cast<double>(offsets_.size()) * static_cast<double>(a.rows),
                       options.most_padding, "take another format, or allow more by most_padding");
    this->claim_bytes(static_cast<double>(offsets_.size()) * static_cast<double>(a.rows),
                      static_cast<double>(offsets_.size()), options.most_bytes);
    this->reserve_places(offsets_.size() * rows);
    for (std::size_t row = 0; row < rows; ++row)
      for (Index from = a.offsets[row]; from < a.offsets[row + 1]; ++from) {
        const auto column = static_cast<std::size_t>(a.indices[from]);
        const auto diagonal = static_cast<std::size_t>(number[column + rows - 1 - row]);
        this->place(diagonal * rows + row, a, from);
      }
    this->took(detail::seconds_now() - start);
  }

  /// @returns the number of each diagonal that is stored [rows + columns], from the lowest left element on
  std::vector<Index> number_diagonals(const rows_given& a) {
    const auto rows = static_cast<std::size_t>(a.rows);
    std::vector<Index> number(rows + static_cast<std::size_t>(a.columns), Index(-1));
    for (std::size_t row = 0; row < rows; ++row)
      for (Index at = a.offsets[row]; at < a.offsets[row + 1]; ++at)
        number[static_cast<std::size_t>(a.indices[at]) + rows - 1 - row] = 0;
    for (std::size_t at = 0; at < number.size(); ++at) {
      if (number[at] < 0) continue;
      number[at] = static_cast<Index>(offsets_.size());
      offsets_.push_back(static_cast<Index>(static_cast<std::int64_t>(at) - (a.rows - 1)));
    }
    return number;
  }

  std::vector<Index> offsets_;
};

}  // namespace tilewright
