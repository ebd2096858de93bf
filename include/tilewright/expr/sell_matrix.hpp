// Rows of a sparse matrix side by side, for vectors: SELL-C-sigma (Kreutzer, Hager, Wellein, Fehske and
// Bishop, SIAM J. Sci. Comput. 36, 2014).
//
// In compressed rows a vector along a row is mostly a part of one, since rows are short, and where a
// row ends is a branch that nothing predicts. Here a vector holds one element of each of several rows
// that are about as long: rows are sorted by length within a window, the next `Lanes` of them are a
// slice, and each is padded to the longest of its slice.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/expr/recognize_sparse.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/sparse_pattern.hpp>

namespace tilewright {

struct sell_options {
  /// Rows that are sorted by their length at a time: more leave less padding, fewer keep rows near
  /// those that read the same elements.
  std::int64_t window = 4096;
  /// The conversion is refused when it would take more places than this many for each element.
  double most_padding = 64;
};

namespace detail {

/// Rows in slices of as many as stand side by side.
struct row_slices {
  std::vector<std::int64_t> places;  // [rows], slice * lanes + lane
  std::vector<std::int64_t> ends;    // [slices + 1], steps of all slices before
};

/// Sorts rows by their length, the longest first, within each window, and cuts slices of them; the steps
/// of a slice are the length of its longest row.
row_slices slice_rows(const std::vector<std::int64_t>& lengths, std::int64_t window, int lanes);
/// Of a clock that only goes forward. // s
double seconds_now();

}  // namespace detail

/// A sparse matrix as an argument of parameters with `sell<"K", Lanes>`:
///
///     tw::sell_matrix<float> rows(graph);   // Eigen's, or csr(offsets, indices, values, columns)
///     op(rows, x, y);
///     rows.refresh(graph);                  // the same pattern, new values: a gather
///
/// It owns its arrays, and keeps for each place which element of the matrix it was made from.
template <class T, int Lanes = 8, class Index = std::int32_t>
class sell_matrix {
 public:
  using value_type = T;
  using index_type = Index;
  static constexpr int lanes = Lanes;

  /// It requires: 1) offsets that begin with 0, never decrease, and end with the number of elements;
  /// 2) indices that are in the columns and 3) rise within a row; 4) a window of one row or more; 5)
  /// no more places than the options and indices of this type allow.
  /// @throws argument_error naming array, position and value
  template <class Matrix>
  explicit sell_matrix(const Matrix& m, sell_options options = {}) {
    const double start = detail::seconds_now();
    const arrays a = arrays_of(m);
    pattern_ = shape_of(a);
    const std::string wrong = support::wrong_pattern(pattern_of(a));
    if (!wrong.empty()) throw argument_error("sell_matrix: " + wrong);
    if (options.window < 1)
      throw argument_error("sell_matrix: the window has " + std::to_string(options.window) +
                           " rows; it has one or more");
    place_rows(a, options);
    fill(a);
    seconds_ = detail::seconds_now() - start;
  }

  /// Takes new values of the matrix that this one was made from.
  /// @throws argument_error when it has another number of rows, columns or elements
  template <class Matrix>
  void refresh(const Matrix& m) {
    const arrays a = arrays_of(m);
    const shape now = shape_of(a);
    if (!(now == pattern_))
      throw argument_error("sell_matrix: refresh is given another pattern, of " +
                           std::to_string(now.rows) + " x " + std::to_string(now.columns) +
                           " with " + std::to_string(now.nonzeros) +
                           " elements; make another sell_matrix of it");
    const T* from = static_cast<const T*>(a[2].data);
    for (std::size_t at = 0; at < values_.size(); ++at)
      values_[at] = source_[at] < 0 ? T(0) : from[source_[at]];
  }

  std::int64_t rows() const { return pattern_.rows; }
  std::int64_t columns() const { return pattern_.columns; }
  std::int64_t nonzeros() const { return pattern_.nonzeros; }
  /// Places that hold no element, as a share of all.
  double padding() const {
    const auto all = static_cast<double>(values_.size());
    return 1 - static_cast<double>(pattern_.nonzeros) / all;
  }
  /// What it took to make it. // s
  double conversion_seconds() const { return seconds_; }

  /// @name Arrays
  /// @{
  const std::vector<Index>& offsets() const { return offsets_; }  // [slices + 1], steps
  const std::vector<Index>& lengths() const { return lengths_; }  // [slices, Lanes], elements
  const std::vector<Index>& order() const { return order_; }      // [rows], slice * Lanes + lane
  const std::vector<Index>& indices() const { return indices_; }  // [steps, Lanes]
  const std::vector<T>& values() const { return values_; }        // [steps, Lanes]
  const std::vector<Index>& source() const {
    return source_;
  }  // [steps, Lanes]; -1: padding
     /// @}

 private:
  struct shape {
    std::int64_t rows = 0, columns = 0, nonzeros = 0;
    friend bool operator==(const shape&, const shape&) = default;
  };
  using arrays = std::array<dsl::argument, 3>;

  template <class Matrix>
  static arrays arrays_of(const Matrix& m) {
    using form = dsl::sparse_recognized<const Matrix>;
    static_assert(form::known && form::row_major,
                  "tilewright: a sell_matrix is made of an Eigen::SparseMatrix<T, Eigen::RowMajor> "
                  "or csr(offsets, indices, values, columns)");
    static_assert(
        std::is_same_v<typename form::value_type, T> &&
            std::is_same_v<typename form::index_type, Index>,
        "tilewright: a sell_matrix<T, lanes, Index> is made of a matrix with these types");
    return form::make(m, "sell_matrix");
  }

  static support::pattern_view<Index> pattern_of(const arrays& a) {
    static const std::string offsets = "offsets", indices = "indices";
    return {static_cast<const Index*>(a[0].data),
            static_cast<const Index*>(a[1].data),
            a[0].extents[0] - 1,
            a[1].extents[1],
            a[1].extents[0],
            offsets,
            indices};
  }

  static shape shape_of(const arrays& a) {
    return {a[0].extents[0] - 1, a[1].extents[1], a[1].extents[0]};
  }

  /// Decides where rows go, and how many steps a slice has.
  void place_rows(const arrays& a, const sell_options& options) {
    const auto* offsets = static_cast<const Index*>(a[0].data);
    std::vector<std::int64_t> lengths(static_cast<std::size_t>(pattern_.rows));
    for (std::size_t row = 0; row < lengths.size(); ++row)
      lengths[row] = offsets[row + 1] - offsets[row];
    const detail::row_slices slices = detail::slice_rows(lengths, options.window, Lanes);
    check_places(slices.ends.back(), options);
    offsets_.assign(slices.ends.begin(), slices.ends.end());
    lengths_.assign((slices.ends.size() - 1) * Lanes, 0);
    order_.resize(lengths.size());
    for (std::size_t row = 0; row < lengths.size(); ++row) {
      order_[row] = static_cast<Index>(slices.places[row]);
      lengths_[static_cast<std::size_t>(slices.places[row])] = static_cast<Index>(lengths[row]);
    }
  }

  void check_places(std::int64_t steps, const sell_options& options) const {
    const double places = static_cast<double>(steps) * Lanes;
    const double most = options.most_padding * static_cast<double>(pattern_.nonzeros);
    if (places > most)
      throw argument_error("sell_matrix: " + std::to_string(pattern_.nonzeros) +
                           " elements would take more than " +
                           std::to_string(options.most_padding) +
                           " places each; widen the window, or allow more by most_padding");
    if (places > static_cast<double>(std::numeric_limits<Index>::max()))
      throw argument_error(
          "sell_matrix: there are more places than the indices count; take "
          "sell_matrix<T, lanes, std::int64_t>");
  }

  void fill(const arrays& a) {
    const auto* offsets = static_cast<const Index*>(a[0].data);
    const auto* indices = static_cast<const Index*>(a[1].data);
    const auto* values = static_cast<const T*>(a[2].data);
    const auto steps = static_cast<std::size_t>(std::max<Index>(1, offsets_.back()));
    indices_.assign(steps * Lanes, 0);
    values_.assign(steps * Lanes, T(0));
    source_.assign(steps * Lanes, Index(-1));
    for (std::size_t row = 0; row < order_.size(); ++row) {
      const auto place = static_cast<std::size_t>(order_[row]);
      const std::size_t slice = place / Lanes, lane = place % Lanes;
      const Index begin = offsets[row], end = offsets[row + 1];
      std::size_t to = static_cast<std::size_t>(offsets_[slice]) * Lanes + lane;
      for (Index from = begin; from < end; ++from, to += Lanes) {
        indices_[to] = indices[from];
        values_[to] = values[from];
        source_[to] = from;
      }
      const auto last = static_cast<std::size_t>(offsets_[slice + 1]) * Lanes;
      for (; to < last; to += Lanes)  // a line that the row has read just before
        indices_[to] = end > begin ? indices[end - 1] : Index(0);
    }
  }

  shape pattern_;
  double seconds_ = 0;
  std::vector<Index> offsets_, lengths_, order_, indices_, source_;
  std::vector<T> values_;
};

template <class T, class Index>
sell_matrix(const csr_view<T, Index>&, sell_options = {})
    -> sell_matrix<std::remove_const_t<T>, 8, std::remove_const_t<Index>>;

}  // namespace tilewright
