// Some elements of compressed rows, as compressed rows of their own: what a format takes of a matrix, and
// what it leaves.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <tilewright/expr/formats/converted_matrix.hpp>

namespace tilewright::detail {

template <class T, class Index>
struct part_of_rows {
  std::int64_t rows = 0, columns = 0;
  std::vector<Index> offsets{0};  // [rows + 1]
  std::vector<Index> indices;     // [elements]
  std::vector<Index> elements;    // [elements], of the matrix that it is a part of
  std::vector<T> values;          // [elements]

  part_of_rows() = default;
  explicit part_of_rows(const csr_source<T, Index>& a)
      : rows(a.rows),
        columns(a.columns),
        offsets(a.offsets, a.offsets + a.rows + 1),
        indices(a.indices, a.indices + a.nonzeros),
        values(a.values, a.values + a.nonzeros) {
    for (Index at = 0; at < static_cast<Index>(a.nonzeros); ++at) elements.push_back(at);
  }

  csr_view<const T, const Index> view() const {
    return {rows,           columns,        static_cast<std::int64_t>(indices.size()),
            offsets.data(), indices.data(), values.data()};
  }
};

/// Divides the elements: those for which `taken` is not zero, and the others. Each goes to one of both, and
/// columns keep their order.
/// @param taken [elements of a]
template <class T, class Index>
std::pair<part_of_rows<T, Index>, part_of_rows<T, Index>> divide(
    const part_of_rows<T, Index>& a, const std::vector<unsigned char>& taken) {
  std::pair<part_of_rows<T, Index>, part_of_rows<T, Index>> out;
  for (part_of_rows<T, Index>* part : {&out.first, &out.second}) {
    part->rows = a.rows;
    part->columns = a.columns;
  }
  for (std::size_t row = 0; row < static_cast<std::size_t>(a.rows); ++row) {
    for (auto at = static_cast<std::size_t>(a.offsets[row]);
         at < static_cast<std::size_t>(a.offsets[row + 1]); ++at) {
      part_of_rows<T, Index>& to = taken[at] ? out.first : out.second;
      to.indices.push_back(a.indices[at]);
      to.elements.push_back(a.elements[at]);
      to.values.push_back(a.values[at]);
    }
    for (part_of_rows<T, Index>* part : {&out.first, &out.second})
      part->offsets.push_back(static_cast<Index>(part->indices.size()));
  }
  return out;
}

/// The elements in aligned blocks of which a share of `least_fill` or more is stored. // [elements of a]
template <class T, class Index>
std::vector<unsigned char> in_full_blocks(const part_of_rows<T, Index>& a, int block,
                                          double least_fill) {
  std::vector<unsigned char> out(a.indices.size(), 0);
  const auto rows = static_cast<std::size_t>(a.rows), size = static_cast<std::size_t>(block);
  const double needed = least_fill * block * block;
  std::vector<std::int32_t> stored(static_cast<std::size_t>(a.columns) / size + 1, 0);
  for (std::size_t first = 0; first < rows; first += size) {
    const auto begin = static_cast<std::size_t>(a.offsets[first]),
               end = static_cast<std::size_t>(a.offsets[std::min(first + size, rows)]);
    const auto block_of = [&](std::size_t at) {
      return static_cast<std::size_t>(a.indices[at]) / size;
    };
    for (std::size_t at = begin; at < end; ++at) ++stored[block_of(at)];
    for (std::size_t at = begin; at < end; ++at)
      out[at] = static_cast<double>(stored[block_of(at)]) >= needed;
    for (std::size_t at = begin; at < end; ++at) stored[block_of(at)] = 0;
  }
  return out;
}

/// The first elements of each row before column `end`, as many as `width`. // [elements of a]
template <class T, class Index>
std::vector<unsigned char> first_of_rows(const part_of_rows<T, Index>& a, int width,
                                         std::int64_t end) {
  std::vector<unsigned char> out(a.indices.size(), 0);
  for (std::size_t row = 0; row < static_cast<std::size_t>(a.rows); ++row)
    for (Index at = a.offsets[row]; at < a.offsets[row + 1] && at - a.offsets[row] < width; ++at)
      out[static_cast<std::size_t>(at)] = a.indices[static_cast<std::size_t>(at)] < end;
  return out;
}

/// The elements of rows that have no more than `longest`. // [elements of a]
template <class T, class Index>
std::vector<unsigned char> in_short_rows(const part_of_rows<T, Index>& a, std::int64_t longest) {
  std::vector<unsigned char> out(a.indices.size(), 0);
  for (std::size_t row = 0; row < static_cast<std::size_t>(a.rows); ++row)
    if (a.offsets[row + 1] - a.offsets[row] <= longest)
      for (Index at = a.offsets[row]; at < a.offsets[row + 1]; ++at)
        out[static_cast<std::size_t>(at)] = 1;
  return out;
}

}  // namespace tilewright::detail
