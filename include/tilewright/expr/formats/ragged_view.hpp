// Ragged tensors in memory of the user's: rows of different length one behind the other.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include <tilewright/expr/recognize.hpp>
#include <tilewright/expr/recognize_sparse.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright {

/// A ragged tensor of `Rank` dimensions, the second of which is as long as the first one's element says;
/// see `ragged_of`.
template <class T, class Index, int Rank>
struct ragged_view {
  using value_type = T;
  using index_type = Index;
  static constexpr part_format format{dim_storage::ragged};
  static constexpr int rank = Rank;

  std::int64_t rows = 0, longest = 0;
  const Index* offsets = nullptr;  // [rows + 1]
  dsl::argument values;            // [offsets[rows], further dimensions]

  /// What a call takes; the extents of the offsets end with the length of the longest row.
  std::array<dsl::argument, 2> arguments() const {
    std::array<dsl::argument, 2> out{dsl::array_argument(offsets, rows + 1), values};
    out[0].extents[1] = longest;
    return out;
  }
};

namespace dsl {

/// Dimensions of a dense object: one of a vector.
template <class Form>
constexpr int dense_rank() {
  for (int rank = 1; rank <= argument::max_rank; ++rank)
    if (Form::has_rank(rank)) return rank;
  return 0;
}

}  // namespace dsl

/// `ragged_of(offsets, values)` is an argument of a parameter with `ragged<"L">`: row b has the elements
/// values(p, ..) with offsets[b] <= p < offsets[b + 1]. The values are any dense argument: a vector, or a
/// matrix where one dimension stands behind.
///
/// It requires: 1) offsets that begin with 0 and never decrease; 2) as many values as the last one says.
/// @throws argument_error naming position and value
template <class Offsets, class Values>
requires dsl::ranges<Offsets> && dsl::recognized<std::remove_reference_t<Values>>::known auto
ragged_of(const Offsets& offsets, Values&& values) {
  using form = dsl::recognized<std::remove_reference_t<Values>>;
  using index = std::remove_cv_t<std::remove_pointer_t<decltype(offsets.data())>>;
  constexpr int rank = dsl::dense_rank<form>();
  ragged_view<typename form::value_type, index, rank + 1> out;
  out.values = form::make(values, rank);
  const index* at = offsets.data();
  const auto text = [&](std::int64_t row) {
    return "ragged_of: offset " + std::to_string(row) + " is " + std::to_string(at[row]);
  };
  if (offsets.size() < 1)
    throw argument_error("ragged_of: there are no offsets; n rows have n + 1 of them");
  out.offsets = at;
  out.rows = static_cast<std::int64_t>(offsets.size()) - 1;
  if (at[0] != 0) throw argument_error(text(0) + "; offsets begin with 0");
  for (std::int64_t row = 0; row < out.rows; ++row) {
    if (at[row + 1] < at[row])
      throw argument_error(text(row + 1) + " after " + std::to_string(at[row]) +
                           "; offsets never decrease");
    out.longest = std::max(out.longest, static_cast<std::int64_t>(at[row + 1] - at[row]));
  }
  if (at[out.rows] != out.values.extents[0])
    throw argument_error(text(out.rows) + ", and there are " +
                         std::to_string(out.values.extents[0]) +
                         " values; the last offset is their number");
  return out;
}

}  // namespace tilewright
