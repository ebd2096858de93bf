// Rows of a sparse matrix side by side, for vectors: SELL-C-sigma (Kreutzer, Hager, Wellein, Fehske and
// Bishop, SIAM J. Sci. Comput. 36, 2014).
//
// In compressed rows a vector along a row is mostly a part of one, since rows are short, and where a
// row ends is a branch that nothing predicts. Here a vector holds one element of each of several rows
// that are about as long: rows are sorted by length within a window, the next `Lanes` of them are a
// slice, and each is padded to the longest of its slice.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include <tilewright/expr/formats/converted_matrix.hpp>

namespace tilewright {

struct sell_options {
  /// Rows that are sorted by their length at a time: more leave less padding, fewer keep rows near
  /// those that read the same elements.
  std::int64_t window = 4096;
  /// The conversion is refused when it would take more places than this many for each element.
  double most_padding = 64;
  /// The conversion is refused when its arrays would take more bytes than this.
  std::int64_t most_bytes = detail::no_limit;
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

}  // namespace detail

/// A sparse matrix as an argument of parameters with `sell<"K", Lanes>`:
///
///     tw::sell_matrix<float> rows(graph);   // Eigen's, or csr(offsets, indices, values, columns)
///     op(rows, x, y);
///     rows.refresh(graph);                  // the same pattern, new values: a gather
///
/// It owns its arrays, and keeps for each place which element of the matrix it was made from.
template <class T, int Lanes = 8, class Index = std::int32_t>
class sell_matrix : public detail::converted_matrix<sell_matrix<T, Lanes, Index>, T, Index> {
  using base = detail::converted_matrix<sell_matrix, T, Index>;
  using rows_given = detail::csr_source<T, Index>;

 public:
  static constexpr int lanes = Lanes;
  static constexpr part_format format{dim_storage::sell, Lanes};

  /// It requires: 1) offsets that begin with 0, never decrease, and end with the number of elements;
  /// 2) indices that are in the columns and 3) rise within a row; 4) a window of one row or more; 5)
  /// no more places and bytes than the options and indices of this type allow.
  /// @throws argument_error naming array, position and value
  template <class Matrix>
  explicit sell_matrix(const Matrix& m, sell_options options = {})
      : sell_matrix(rows_given::of(m, "sell_matrix"), options) {}

  /// @name Arrays beside `values` and `source`, which have places [steps, Lanes]
  /// @{
  const std::vector<Index>& offsets() const { return offsets_; }  // [slices + 1], steps
  const std::vector<Index>& lengths() const { return lengths_; }  // [slices, Lanes], elements
  const std::vector<Index>& order() const { return order_; }      // [rows], slice * Lanes + lane
  const std::vector<Index>& indices() const {
    return indices_;
  }  // [steps, Lanes]
     /// @}

  /// What a call takes.
  auto arguments() const {
    auto out = detail::matrix_arguments(*this, offsets_, lengths_, order_);
    out[1].rank = 2;
    out[1].extents = {out[0].extents[0] - 1, Lanes};
    out[1].strides = {Lanes, 1};
    return out;
  }

  /// Calls `f(element, row, column)` for each element of the compressed rows.
  template <class Visit>
  void each_element(const Visit& f) const {
    for (std::size_t row = 0; row < order_.size(); ++row) {
      const auto place = static_cast<std::size_t>(order_[row]);
      std::size_t at = static_cast<std::size_t>(offsets_[place / Lanes]) * Lanes + place % Lanes;
      for (Index left = lengths_[place]; left > 0; --left, at += Lanes)
        f(static_cast<std::size_t>(this->source()[at]), row, std::int64_t{indices_[at]});
    }
  }

 private:
  sell_matrix(const rows_given& a, sell_options options) : base("sell_matrix", a) {
    const double start = detail::seconds_now();
    if (options.window < 1)
      throw argument_error("sell_matrix: the window has " + std::to_string(options.window) +
                           " rows; it has one or more");
    place_rows(a, options);
    fill(a);
    this->took(detail::seconds_now() - start);
  }

  /// Decides where rows go, and how many steps a slice has.
  void place_rows(const rows_given& a, const sell_options& options) {
    std::vector<std::int64_t> lengths(static_cast<std::size_t>(a.rows));
    for (std::size_t row = 0; row < lengths.size(); ++row) lengths[row] = a.length(row);
    const detail::row_slices slices = detail::slice_rows(lengths, options.window, Lanes);
    this->check_places(static_cast<double>(slices.ends.back()) * Lanes, options.most_padding,
                       "widen the window, or allow more by most_padding");
    const double places = static_cast<double>(slices.ends.back()) * Lanes;
    this->claim_bytes(places,
                      places + static_cast<double>(slices.ends.size()) * (Lanes + 1) +
                          static_cast<double>(a.rows),
                      options.most_bytes);
    offsets_.assign(slices.ends.begin(), slices.ends.end());
    lengths_.assign((slices.ends.size() - 1) * Lanes, 0);
    order_.resize(lengths.size());
    for (std::size_t row = 0; row < lengths.size(); ++row) {
      order_[row] = static_cast<Index>(slices.places[row]);
      lengths_[static_cast<std::size_t>(slices.places[row])] = static_cast<Index>(lengths[row]);
    }
  }

  void fill(const rows_given& a) {
    const auto steps = static_cast<std::size_t>(std::max<Index>(1, offsets_.back()));
    indices_.assign(steps * Lanes, 0);
    this->reserve_places(steps * Lanes);
    for (std::size_t row = 0; row < order_.size(); ++row) {
      const auto place = static_cast<std::size_t>(order_[row]);
      const std::size_t slice = place / Lanes, lane = place % Lanes;
      const Index begin = a.offsets[row], end = a.offsets[row + 1];
      std::size_t to = static_cast<std::size_t>(offsets_[slice]) * Lanes + lane;
      for (Index from = begin; from < end; ++from, to += Lanes) {
        indices_[to] = a.indices[from];
        this->place(to, a, from);
      }
      const auto last = static_cast<std::size_t>(offsets_[slice + 1]) * Lanes;
      for (; to < last; to += Lanes)  // a line that the row has read just before
        indices_[to] = end > begin ? a.indices[end - 1] : Index(0);
    }
  }

  std::vector<Index> offsets_, lengths_, order_, indices_;
};

template <class T, class Index>
sell_matrix(const csr_view<T, Index>&, sell_options = {})
    -> sell_matrix<std::remove_const_t<T>, 8, std::remove_const_t<Index>>;

}  // namespace tilewright
