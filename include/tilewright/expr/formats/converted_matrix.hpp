// What sparse matrices in formats of ours have in common: they are made of compressed rows, and keep for
// each place which element it holds, so that new values on the same pattern cost a gather.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/expr/formats/kept_pattern.hpp>
#include <tilewright/expr/recognize_sparse.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/sparse_pattern.hpp>

namespace tilewright::detail {

/// Of a clock that only goes forward. // s
double seconds_now();

/// A number of bytes that no matrix takes.
inline constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

/// Compressed rows in memory of the user's.
template <class T, class Index>
struct csr_source {
  std::int64_t rows = 0, columns = 0, nonzeros = 0;
  const Index* offsets = nullptr;  // [rows + 1]
  const Index* indices = nullptr;  // [nonzeros]
  const T* values = nullptr;       // [nonzeros]

  /// @param maker what a message calls the matrix that is made
  template <class Matrix>
  static csr_source of(const Matrix& m, const char* maker) {
    using form = dsl::sparse_recognized<const Matrix>;
    static_assert(form::known && form::row_major && form::storage == dim_storage::compressed,
                  "tilewright: a matrix in another format is made of a csr_matrix, of an "
                  "Eigen::SparseMatrix<T, Eigen::RowMajor> or of csr(offsets, indices, values, "
                  "columns)");
    static_assert(
        std::is_same_v<typename form::value_type, T> &&
            std::is_same_v<typename form::index_type, Index>,
        "tilewright: a matrix in another format has the element and index types of the one "
        "it is made of");
    const auto a = form::make(m, maker);
    return {a[0].extents[0] - 1,
            a[1].extents[1],
            a[1].extents[0],
            static_cast<const Index*>(a[0].data),
            static_cast<const Index*>(a[1].data),
            static_cast<const T*>(a[2].data)};
  }

  /// @throws argument_error for what is wrong with the pattern, by position and value
  void check(const char* maker) const {
    const std::string offsets_name = "offsets", indices_name = "indices";
    const std::string wrong = support::wrong_pattern(support::pattern_view<Index>{
        offsets, indices, rows, columns, nonzeros, offsets_name, indices_name});
    if (!wrong.empty()) throw argument_error(std::string(maker) + ": " + wrong);
  }

  std::int64_t length(std::size_t row) const { return offsets[row + 1] - offsets[row]; }
  compressed_pattern<Index> pattern() const { return {offsets, indices, rows, columns, nonzeros}; }
};

/// The arrays `before` the indices of a matrix, these, and its values, as arguments. The extents of the
/// indices end with the number of columns.
template <class Matrix, class... Before>
auto matrix_arguments(const Matrix& a, const Before&... before) {
  std::array<dsl::argument, sizeof...(Before) + 2> out{dsl::vector_argument(before)...,
                                                       dsl::vector_argument(a.indices()),
                                                       dsl::vector_argument(a.values())};
  out[sizeof...(Before)].extents[1] = a.columns();
  return out;
}

/// The base of such a matrix. `Matrix` has a member `each_element(f)`, which calls `f(element, row, column)` for
/// each element of the compressed rows, with the row and column at which its own arrays have it.
template <class Matrix, class T, class Index>
class converted_matrix {
 public:
  using value_type = T;
  using index_type = Index;

  /// Takes new values of the matrix that this one was made from. Its pattern is compared with what it was, by a
  /// number for the content of offsets and indices, unless the program promises that it is the same.
  /// @throws argument_error for another pattern, by array, position and value; no value is taken then
  template <class Rows>
  void refresh(const Rows& m, same_pattern pattern = same_pattern::checked) {
    const auto a = csr_source<T, Index>::of(m, maker_);
    pattern_.check(maker_, a.pattern(), pattern, [&](const auto& visit) {
      static_cast<const Matrix*>(this)->each_element(visit);
    });
    gather(a.values);
  }

  /// Takes the values of all places from those of the elements that `source` numbers.
  void gather(const T* values) {
    for (std::size_t at = 0; at < values_.size(); ++at)
      values_[at] = source_[at] < 0 ? absent_ : values[source_[at]];
  }
  /// What places hold that have no element.
  T absent() const noexcept { return absent_; }
  /// Has such places hold another value.
  void pad_with(T absent) {
    absent_ = absent;
    for (std::size_t at = 0; at < values_.size(); ++at)
      if (source_[at] < 0) values_[at] = absent;
  }
  /// Numbers elements as those of a greater matrix, of which this one was made as a part.
  /// @param elements of the greater matrix [nonzeros]
  void take_elements(const std::vector<Index>& elements) {
    for (Index& at : source_)
      if (at >= 0) at = elements[static_cast<std::size_t>(at)];
  }

  std::int64_t rows() const noexcept { return pattern_.rows(); }
  std::int64_t columns() const noexcept { return pattern_.columns(); }
  std::int64_t nonzeros() const noexcept { return pattern_.nonzeros(); }
  /// Bytes of all its arrays, `source` among them.
  std::int64_t bytes() const noexcept { return bytes_; }
  /// Places that hold no element, as a share of all; 0 where there is none.
  double padding() const {
    const auto all = static_cast<double>(values_.size());
    return nonzeros() > 0 ? 1 - static_cast<double>(nonzeros()) / all : 0;
  }
  /// What it took to make it. // s
  double conversion_seconds() const noexcept { return seconds_; }
  const std::vector<T>& values() const noexcept { return values_; }  // [places]
  /// The element of the compressed rows at each place; -1: padding. // [places]
  const std::vector<Index>& source() const noexcept { return source_; }

 protected:
  converted_matrix(const char* maker, const csr_source<T, Index>& a, T absent = T(0))
      : maker_(maker), absent_(absent) {
    a.check(maker);
    pattern_ = kept_pattern(a.pattern());
  }

  /// Refuses more places than the matrix may take, before any memory is taken for them.
  /// @param most for each element; what more of them mean is told by `advice`
  void check_places(double places, double most, const std::string& advice) const {
    if (places > most * static_cast<double>(nonzeros()))
      throw argument_error(std::string(maker_) + ": " + std::to_string(nonzeros()) +
                           " elements would take more than " + std::to_string(most) +
                           " places each; " + advice);
    if (places > static_cast<double>(std::numeric_limits<Index>::max()))
      throw argument_error(std::string(maker_) +
                           ": there are more places than the indices count; take one with indices "
                           "of type std::int64_t");
  }

  /// Refuses more rows than indices number, where these are numbers of rows.
  void check_row_numbers() const {
    if (rows() > static_cast<std::int64_t>(std::numeric_limits<Index>::max()))
      throw argument_error(std::string(maker_) + ": there are " + std::to_string(rows()) +
                           " rows, which the indices do not number; take one with indices of type "
                           "std::int64_t");
  }

  /// Refuses arrays that take more bytes than the matrix may, before any memory is taken for them, and notes
  /// what they take.
  /// @param places of values, each of which has an element of the source, too
  /// @param others indices, offsets and what else the format consists of
  void claim_bytes(double places, double others, std::int64_t most) {
    const double bytes = places * (sizeof(T) + sizeof(Index)) + others * sizeof(Index);
    if (bytes > static_cast<double>(most))
      throw argument_error(std::string(maker_) + ": " + std::to_string(nonzeros()) +
                           " elements would take " +
                           std::to_string(static_cast<std::int64_t>(bytes)) +
                           " bytes in this format, and most_bytes allows " + std::to_string(most) +
                           "; take another format, or allow more");
    bytes_ = static_cast<std::int64_t>(bytes);
  }

  void reserve_places(std::size_t places) {
    values_.assign(places, absent_);
    source_.assign(places, Index(-1));
  }
  void place(std::size_t at, const csr_source<T, Index>& a, Index element) {
    values_[at] = a.values[element];
    source_[at] = element;
  }

  void took(double seconds) { seconds_ = seconds; }

 private:
  double seconds_ = 0;
  const char* maker_;
  kept_pattern pattern_;
  std::int64_t bytes_ = 0;
  T absent_ = T(0);
  std::vector<T> values_;
  std::vector<Index> source_;
};

}  // namespace tilewright::detail

namespace tilewright {

/// What a conversion may take where the format has no other options.
struct memory_limit {
  /// The conversion is refused when its arrays would take more bytes than this.
  std::int64_t most_bytes = detail::no_limit;
};

}  // namespace tilewright
