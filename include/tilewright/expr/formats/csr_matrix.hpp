// Compressed sparse rows that own their arrays, made of coordinates in any order (COO).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/expr/recognize_sparse.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright {

/// What becomes of several values for one element.
enum class duplicates {
  refused,
  summed  // in the order in which they stand
};

/// A sparse matrix as an argument of parameters with `compressed<"K">`, made of coordinates:
///
///     tw::csr_matrix<float> a(rows, columns, row_of, column_of, values);   // one of each per element
///     op(a, b, c);
///     a.refresh(new_values);                  // the same coordinates: a gather
///
/// It keeps for each element which of the values it was made from.
template <class T, class Index = std::int32_t>
class csr_matrix {
  static_assert(std::is_same_v<Index, std::int32_t> || std::is_same_v<Index, std::int64_t>,
                "tilewright: the indices of a csr_matrix are std::int32_t or std::int64_t");

 public:
  using value_type = T;
  using index_type = Index;
  static constexpr part_format format{dim_storage::compressed};

  csr_matrix() = default;
  /// It requires: 1) as many row and column numbers as values; 2) numbers in [0, rows) and [0, columns);
  /// 3) extents and number of elements that indices of this type count; 4) each element once, unless
  /// duplicates are summed.
  /// @param row_of, column_of, values contiguous ranges, [elements]; numbers of any integer type
  /// @throws argument_error naming position and value
  template <class Rows, class Columns, class Values>
  csr_matrix(std::int64_t rows, std::int64_t columns, const Rows& row_of, const Columns& column_of,
             const Values& values, duplicates twice = duplicates::refused)
      : columns_(columns), taken_(values.size()) {
    check_extents(rows, row_of.size(), column_of.size());
    const auto number = [&](const auto& of, std::size_t at, std::int64_t end, const char* what) {
      const auto out = static_cast<std::int64_t>(of.data()[at]);
      if (out < 0 || out >= end)
        throw argument_error("csr_matrix: the " + std::string(what) + " of element " +
                             std::to_string(at) + " is " + std::to_string(out) +
                             "; it has to be 0 to " + std::to_string(end - 1));
      return out;
    };
    offsets_.assign(static_cast<std::size_t>(rows) + 1, 0);
    for (std::size_t at = 0; at < taken_; ++at) {
      number(column_of, at, columns, "column");
      ++offsets_[static_cast<std::size_t>(number(row_of, at, rows, "row")) + 1];
    }
    for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row)
      offsets_[row + 1] += offsets_[row];
    place_.resize(taken_);
    std::vector<Index> next(offsets_.begin(), offsets_.end() - 1);
    std::vector<std::size_t> source(taken_);
    for (std::size_t at = 0; at < taken_; ++at)
      source[static_cast<std::size_t>(next[static_cast<std::size_t>(row_of.data()[at])]++)] = at;
    sort_rows(source, column_of, twice);
    refresh(values);
  }

  /// The rows of a sparse matrix of Eigen's that is stored by columns, or a map of one; `refresh` takes its
  /// values in its own order: `rows.refresh(std::span(m.valuePtr(), rows.nonzeros()))`.
  /// @throws argument_error as above, and when the matrix is not compressed
  template <class A>
  requires dsl::eigen_sparse_form<A> &&(!A::IsRowMajor) explicit csr_matrix(const A& m)
      : csr_matrix(m.rows(), m.cols(), inner_of(m), columns_of(m), values_of(m)) {}

  /// Takes new values for the coordinates that this matrix was made of.
  /// @throws argument_error when there are more or fewer
  template <class Values>
  void refresh(const Values& values) {
    if (values.size() != taken_)
      throw argument_error("csr_matrix: there are " + std::to_string(values.size()) +
                           " values for the " + std::to_string(taken_) +
                           " coordinates that it was made of");
    values_.assign(indices_.size(), T(0));
    std::vector<bool> begun(indices_.size());
    for (std::size_t at = 0; at < taken_; ++at) {
      const auto to = static_cast<std::size_t>(place_[at]);
      const T value = static_cast<T>(values.data()[at]);
      values_[to] = begun[to] ? static_cast<T>(values_[to] + value) : value;
      begun[to] = true;
    }
  }

  std::int64_t rows() const noexcept { return static_cast<std::int64_t>(offsets_.size()) - 1; }
  std::int64_t columns() const noexcept { return columns_; }
  std::int64_t nonzeros() const noexcept { return static_cast<std::int64_t>(indices_.size()); }
  /// @name Arrays
  /// @{
  const std::vector<Index>& offsets() const noexcept { return offsets_; }  // [rows + 1]
  const std::vector<Index>& indices() const noexcept { return indices_; }  // [nonzeros]
  const std::vector<T>& values() const noexcept { return values_; }        // [nonzeros]
  /// Of each value that the matrix was made of: the element that it went to. // [elements given]
  const std::vector<Index>& places() const noexcept { return place_; }
  /// @}

  /// What a call takes.
  auto arguments() const {
    return dsl::sparse_arguments(rows(), columns_, nonzeros(), offsets_.data(), indices_.data(),
                                 values_.data());
  }

 private:
  template <class V>
  struct part {
    const V* first;
    std::size_t count;
    const V* data() const { return first; }
    std::size_t size() const { return count; }
  };
  template <class A>
  static std::size_t elements_of(const A& m) {
    if (!m.isCompressed())
      throw argument_error(
          "csr_matrix: the sparse matrix is not compressed; call its makeCompressed() before");
    return static_cast<std::size_t>(m.nonZeros());
  }
  template <class A>
  static auto inner_of(const A& m) {
    return part<typename A::StorageIndex>{m.innerIndexPtr(), elements_of(m)};
  }
  template <class A>
  static auto values_of(const A& m) {
    return part<typename A::Scalar>{m.valuePtr(), elements_of(m)};
  }
  template <class A>
  static std::vector<std::int64_t> columns_of(const A& m) {
    std::vector<std::int64_t> out(elements_of(m));
    for (std::int64_t column = 0; column < static_cast<std::int64_t>(m.cols()); ++column) {
      const auto begin = static_cast<std::int64_t>(m.outerIndexPtr()[column]);
      const auto end = static_cast<std::int64_t>(m.outerIndexPtr()[column + 1]);
      const auto most = static_cast<std::int64_t>(out.size());
      const bool last = column + 1 == static_cast<std::int64_t>(m.cols());
      if ((column == 0 && begin != 0) || end < begin || end > most || (last && end != most))
        throw argument_error(
            "csr_matrix: offset " + std::to_string(column + 1) + " of the columns is " +
            std::to_string(end) + " after " + std::to_string(begin) +
            "; they begin with 0, never decrease, and end with the number of elements");
      std::fill(out.begin() + begin, out.begin() + end, column);
    }
    return out;
  }

  void check_extents(std::int64_t rows, std::size_t row_count, std::size_t column_count) const {
    if (row_count != taken_ || column_count != taken_)
      throw argument_error("csr_matrix: there are " + std::to_string(row_count) + " rows, " +
                           std::to_string(column_count) + " columns and " + std::to_string(taken_) +
                           " values; each element has one of each");
    constexpr std::int64_t most = std::numeric_limits<Index>::max() - std::int64_t{1};
    if (rows < 0 || columns_ < 0 || rows > most || columns_ > most ||
        taken_ > static_cast<std::size_t>(most))
      throw argument_error("csr_matrix: " + std::to_string(rows) + " x " +
                           std::to_string(columns_) + " with " + std::to_string(taken_) +
                           " elements is more than indices of " +
                           std::to_string(8 * sizeof(Index)) + " bits count, or less than nothing");
  }

  /// Columns rise within a row; those that occur twice become one element.
  /// @param source numbers of the elements, by rows
  template <class Columns>
  void sort_rows(std::vector<std::size_t>& source, const Columns& column_of, duplicates twice) {
    const auto column = [&](std::size_t at) {
      return static_cast<std::int64_t>(column_of.data()[at]);
    };
    std::size_t begin = 0;
    indices_.reserve(source.size());
    for (std::size_t row = 0; row + 1 < offsets_.size(); ++row) {
      const auto end = static_cast<std::size_t>(offsets_[row + 1]);
      std::sort(source.begin() + static_cast<std::ptrdiff_t>(begin),
                source.begin() + static_cast<std::ptrdiff_t>(end),
                [&](std::size_t a, std::size_t b) {
                  return std::pair(column(a), a) < std::pair(column(b), b);
                });
      for (std::size_t k = begin; k < end; ++k) {
        const bool again = k > begin && column(source[k]) == column(source[k - 1]);
        if (again && twice == duplicates::refused)
          throw argument_error("csr_matrix: elements " + std::to_string(source[k - 1]) + " and " +
                               std::to_string(source[k]) + " both stand at row " +
                               std::to_string(row) + ", column " +
                               std::to_string(column(source[k])) +
                               "; add them up, or ask for duplicates::summed");
        if (!again) indices_.push_back(static_cast<Index>(column(source[k])));
        place_[source[k]] = static_cast<Index>(indices_.size() - 1);
      }
      begin = end;
      offsets_[row + 1] = static_cast<Index>(indices_.size());
    }
  }

  std::int64_t columns_ = 0;
  std::size_t taken_ = 0;  // values that it was made of
  std::vector<Index> offsets_{0}, indices_, place_;
  std::vector<T> values_;
};

}  // namespace tilewright
