// Tensors of any rank in compressed sparse fibres (CSF; Smith and Karypis, IA3 2015): compressed rows, of
// which each element is a row of the next dimension.
//
// What elements have in common of their coordinates is stored once, and a sum takes what belongs to it
// out of the inner sums.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <tilewright/expr/formats/csr_matrix.hpp>
#include <tilewright/support/stable_sort.hpp>

namespace tilewright {

/// A sparse tensor as an argument of parameters with one dense dimension and compressed ones, made of
/// coordinates in any order (COO):
///
///     // in<"A", float, "I", compressed<"J">, compressed<"K">>
///     tw::csf_tensor<float, 3> a({rows, users, words}, std::array{row_of, user_of, word_of}, values);
///     op(a, b, c);
///     a.refresh(new_values);                  // the same coordinates: a gather
template <class T, int Rank, class Index = std::int32_t>
class csf_tensor {
  static_assert(Rank >= 2 && Rank <= 8, "tilewright: a csf_tensor has 2 to 8 dimensions");
  static_assert(std::is_same_v<Index, std::int32_t> || std::is_same_v<Index, std::int64_t>,
                "tilewright: the indices of a csf_tensor are std::int32_t or std::int64_t");

 public:
  using value_type = T;
  using index_type = Index;
  static constexpr part_format format{dim_storage::compressed};
  static constexpr int rank = Rank;

  /// It requires: 1) as many coordinates along each dimension as values; 2) coordinates in the extents;
  /// 3) extents and number of elements that indices of this type count; 4) each element once, unless
  /// duplicates are summed.
  /// @param coordinates contiguous ranges [Rank][elements], of one integer type
  /// @throws argument_error naming dimension, position and value
  template <class Coordinates, class Values>
  csf_tensor(const std::array<std::int64_t, Rank>& extents,
             const std::array<Coordinates, Rank>& coordinates, const Values& values,
             duplicates twice = duplicates::refused)
      : extents_(extents), taken_(values.size()) {
    check(coordinates);
    const coordinate_order<Coordinates> by{coordinates};
    const std::vector<std::size_t> order = support::sorted_order(
        taken_, &by, [](const void* context, std::size_t one, std::size_t other) {
          return static_cast<const coordinate_order<Coordinates>*>(context)->is_before(one, other);
        });
    place_.resize(taken_);
    std::int64_t row = 0;  // rows that have an offset
    for (auto& offsets : offsets_) offsets.assign(1, 0);
    for (std::size_t k = 0; k < taken_; ++k) {
      const std::size_t at = order[k];
      const std::size_t apart = k == 0 ? 0 : by.first_apart(order[k - 1], at);
      if (apart == Rank) {
        if (twice == duplicates::refused)
          throw argument_error("csf_tensor: elements " + std::to_string(order[k - 1]) + " and " +
                               std::to_string(at) +
                               " have the same coordinates; add them up, or ask for "
                               "duplicates::summed");
      } else {
        close_rows(row, static_cast<std::int64_t>(coordinates[0].data()[at]));
        add(coordinates, at, apart);
      }
      place_[at] = static_cast<Index>(indices_.back().size() - 1);
    }
    close_rows(row, extents[0]);
    for (std::size_t level = 1; level + 1 < Rank; ++level)
      if (!indices_[level - 1].empty()) offsets_[level].push_back(end_of(level));
    refresh(values);
  }

  /// Takes new values for the coordinates that this tensor was made of.
  /// @throws argument_error when there are more or fewer
  template <class Values>
  void refresh(const Values& values) {
    if (values.size() != taken_)
      throw argument_error("csf_tensor: there are " + std::to_string(values.size()) +
                           " values for the " + std::to_string(taken_) +
                           " coordinates that it was made of");
    values_.assign(indices_.back().size(), T(0));
    std::vector<bool> begun(values_.size());
    for (std::size_t at = 0; at < taken_; ++at) {
      const auto to = static_cast<std::size_t>(place_[at]);
      const T value = static_cast<T>(values.data()[at]);
      values_[to] = begun[to] ? static_cast<T>(values_[to] + value) : value;
      begun[to] = true;
    }
  }

  std::int64_t extent(int d) const { return extents_[static_cast<std::size_t>(d)]; }
  std::int64_t nonzeros() const { return static_cast<std::int64_t>(values_.size()); }
  /// @name Arrays; level 1 is the second dimension
  /// @{
  const std::vector<Index>& offsets(int level) const {  // [elements of the level before + 1]
    return offsets_[static_cast<std::size_t>(level) - 1];
  }
  const std::vector<Index>& indices(int level) const {  // [elements of the level]
    return indices_[static_cast<std::size_t>(level) - 1];
  }
  const std::vector<T>& values() const { return values_; }  // [elements of the last level]
  /// @}

  /// What a call takes.
  std::array<dsl::argument, 2 * Rank - 1> arguments() const {
    std::array<dsl::argument, 2 * Rank - 1> out;
    for (std::size_t level = 0; level + 1 < Rank; ++level) {
      out[2 * level] = dsl::vector_argument(offsets_[level]);
      out[2 * level + 1] = dsl::vector_argument(indices_[level]);
      out[2 * level + 1].extents[1] = extents_[level + 1];
    }
    out.back() = dsl::vector_argument(values_);
    return out;
  }

 private:
  /// The order of elements by their coordinates, the first dimension first.
  template <class Coordinates>
  struct coordinate_order {
    const std::array<Coordinates, Rank>& coordinates;

    /// The first dimension in which two elements differ; Rank where they are at one place.
    std::size_t first_apart(std::size_t one, std::size_t other) const {
      std::size_t dimension = 0;
      while (dimension < Rank &&
             coordinates[dimension].data()[one] == coordinates[dimension].data()[other])
        ++dimension;
      return dimension;
    }
    bool is_before(std::size_t one, std::size_t other) const {
      const std::size_t apart = first_apart(one, other);
      return apart < Rank && coordinates[apart].data()[one] < coordinates[apart].data()[other];
    }
  };

  Index end_of(std::size_t level) const { return static_cast<Index>(indices_[level].size()); }

  /// Offsets of the rows before `next`.
  void close_rows(std::int64_t& row, std::int64_t next) {
    for (; row < next; ++row) offsets_[0].push_back(end_of(0));
  }

  /// An element whose coordinates differ from those of the one before from dimension `apart` on.
  template <class Coordinates>
  void add(const std::array<Coordinates, Rank>& coordinates, std::size_t at, std::size_t apart) {
    for (std::size_t d = std::max<std::size_t>(apart, 1); d < Rank; ++d) {
      if (d + 1 < Rank && !indices_[d - 1].empty()) offsets_[d].push_back(end_of(d));
      indices_[d - 1].push_back(static_cast<Index>(coordinates[d].data()[at]));
    }
  }

  template <class Coordinates>
  void check(const std::array<Coordinates, Rank>& coordinates) const {
    constexpr std::int64_t most = std::numeric_limits<Index>::max() - std::int64_t{1};
    for (std::size_t d = 0; d < Rank; ++d) {
      const std::string dimension = "dimension " + std::to_string(d);
      if (extents_[d] < 0 || extents_[d] > most || taken_ > static_cast<std::size_t>(most))
        throw argument_error(
            "csf_tensor: " + dimension + " of " + std::to_string(extents_[d]) + " with " +
            std::to_string(taken_) + " elements is more than indices of " +
            std::to_string(8 * sizeof(Index)) + " bits count, or less than nothing");
      if (coordinates[d].size() != taken_)
        throw argument_error("csf_tensor: there are " + std::to_string(coordinates[d].size()) +
                             " coordinates along " + dimension + " and " + std::to_string(taken_) +
                             " values; each element has one of each");
      for (std::size_t at = 0; at < taken_; ++at) {
        const auto c = static_cast<std::int64_t>(coordinates[d].data()[at]);
        if (c < 0 || c >= extents_[d])
          throw argument_error("csf_tensor: the coordinate of element " + std::to_string(at) +
                               " along " + dimension + " is " + std::to_string(c) +
                               "; it has to be 0 to " + std::to_string(extents_[d] - 1));
      }
    }
  }

  std::array<std::int64_t, Rank> extents_;
  std::size_t taken_ = 0;  // values that it was made of
  std::array<std::vector<Index>, Rank - 1> offsets_, indices_;
  std::vector<Index> place_;
  std::vector<T> values_;
};

}  // namespace tilewright
