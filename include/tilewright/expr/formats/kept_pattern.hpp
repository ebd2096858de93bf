// What a converted matrix keeps of the pattern that it was made from: enough to tell that it is given another
// one, and nothing that grows with the matrix.
//
// New values are gathered by the positions that the conversion found. On another pattern, as many elements would
// go to places where none of them belongs, and no later check would see it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/support/error.hpp>
#include <tilewright/support/numbers/content_number.hpp>

namespace tilewright {

/// Whether a matrix whose new values are taken is looked at for another pattern.
enum class same_pattern {
  checked,  // offsets and indices are read once more, and compared with what they were
  promised  // the program knows that they are the same
};

namespace detail {

/// Offsets and indices of compressed rows, in memory of the user's.
template <class Index>
struct compressed_pattern {
  const Index* offsets;  // [rows + 1]
  const Index* indices;  // [nonzeros]
  std::int64_t rows, columns, nonzeros;

  std::uint64_t number() const {
    const std::size_t size = sizeof(Index);
    return support::content_number(
        indices, static_cast<std::size_t>(nonzeros) * size,
        support::content_number(offsets, (static_cast<std::size_t>(rows) + 1) * size, 1));
  }
};

class kept_pattern {
 public:
  kept_pattern() = default;
  template <class Index>
  explicit kept_pattern(const compressed_pattern<Index>& a)
      : rows_(a.rows), columns_(a.columns), nonzeros_(a.nonzeros), number_(a.number()) {}

  std::int64_t rows() const noexcept { return rows_; }
  std::int64_t columns() const noexcept { return columns_; }
  std::int64_t nonzeros() const noexcept { return nonzeros_; }

  /// @param maker what a message calls the matrix that is kept
  /// @param each_element calls its argument with (element, row, column) for all that are kept
  /// @throws argument_error for another pattern, by array, position and value
  template <class Index, class EachElement>
  void check(const char* maker, const compressed_pattern<Index>& now, same_pattern is,
             const EachElement& each_element) const {
    const std::string begin = std::string(maker) + ": refresh is given another pattern, ";
    const std::string end = std::string("; make another ") + maker + " of it";
    if (now.rows != rows_ || now.columns != columns_ || now.nonzeros != nonzeros_)
      throw argument_error(begin + "of " + std::to_string(now.rows) + " x " +
                           std::to_string(now.columns) + " with " + std::to_string(now.nonzeros) +
                           " elements" + end);
    if (is == same_pattern::promised || now.number() == number_) return;
    throw argument_error(begin + difference(now, each_element) + end);
  }

 private:
  static std::string changed(const char* array, std::int64_t at, std::int64_t now,
                             std::int64_t was) {
    return std::string("\"") + array + "\"[" + std::to_string(at) + "] is " + std::to_string(now) +
           " and was " + std::to_string(was);
  }

  /// The first element of an array that is not what it was.
  template <class Index, class EachElement>
  std::string difference(const compressed_pattern<Index>& now,
                         const EachElement& each_element) const {
    std::vector<std::int64_t> lengths(static_cast<std::size_t>(rows_), 0),
        columns(static_cast<std::size_t>(nonzeros_), 0);
    each_element([&](std::size_t element, std::size_t row, std::int64_t column) {
      ++lengths[row];
      columns[element] = column;
    });
    std::int64_t offset = 0;
    for (std::int64_t row = 0; row <= rows_; ++row) {
      const std::int64_t given = now.offsets[row];
      if (given != offset) return changed("offsets", row, given, offset);
      if (row < rows_) offset += lengths[static_cast<std::size_t>(row)];
    }
    for (std::int64_t row = 0; row < rows_; ++row)
      for (std::int64_t at = now.offsets[row]; at < now.offsets[row + 1]; ++at) {
        const std::int64_t given = now.indices[at], was = columns[static_cast<std::size_t>(at)];
        if (given != was)
          return changed("indices", at, given, was) + " in row " + std::to_string(row);
      }
    return "which another thread was changing";
  }

  std::int64_t rows_ = 0, columns_ = 0, nonzeros_ = 0;
  std::uint64_t number_ = 0;  // of offsets and indices
};

}  // namespace detail

}  // namespace tilewright
