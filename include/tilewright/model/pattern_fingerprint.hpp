// What of a sparse pattern decides which storage format suits it, in numbers.
//
// A class of patterns (pattern_class) tells which schedule of compressed rows suits. For formats it
// matters besides how many places each would take: rows that stand side by side are padded to the longest
// of them, blocks are stored whole. Patterns are compared by the logarithms of all numbers, so that what
// was found for one is found again for its like.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/support/dtype.hpp>

namespace tilewright {

/// A pattern of compressed rows in memory of the user's, which has been checked.
struct pattern_arrays {
  const void* offsets = nullptr;  // [rows + 1]
  const void* indices = nullptr;  // [elements]
  dtype index = dtype::i32;       // or i64
  std::int64_t rows = 0, columns = 0, elements = 0;
};

struct pattern_fingerprint {
  static constexpr std::array<int, 3> block_sizes{4, 8, 16};
  static constexpr std::array<int, 2> lanes{8, 16};
  static constexpr std::array<int, 2> windows{4096, 256};
  static constexpr std::array<int, 2> widths{4, 16};

  std::int64_t rows = 0, columns = 0, elements = 0;
  double mean_row = 0;      // elements
  double spread = 0;        // standard deviation of the lengths of rows over their mean
  double longest = 0;       // row over the mean
  double empty = 0;         // share of rows without elements
  double gini = 0;          // of the lengths of rows (row_lengths.hpp); no part of `numbers`
  double gap = 1;           // columns from an element to the next one in its row, on the average
  double off_diagonal = 1;  // distance of an element from the diagonal, on the average; columns
  /// Share of the places of blocks of 4, 8, 16 with an element that hold one.
  std::array<double, 3> fill{};
  /// Share of the elements in blocks of these sizes that are full.
  std::array<double, 3> in_full_blocks{};
  /// Places for each element where 8 or 16 rows stand side by side, sorted within 4096 of them; and within 256,
  /// which is no part of `numbers`.
  std::array<double, 2> side_by_side{1, 1}, side_by_side_near{1, 1};
  /// Share of the elements among the first 4 or 16 of their row; and among as many of those in the left half of the
  /// columns, and as many of what is left. No part of `numbers`.
  std::array<double, 2> in_first{}, in_first_of_halves{};

  /// Numbers of which the sum of |log2| of the ratios is how far two patterns are apart
  /// (search::extent_distance): each is 1 or more, and what schedules hardly depend on counts little.
  std::vector<std::int64_t> numbers() const;
  /// The same in words: "65536 x 65536, 7.7 elements a row (longest 2879), 0 % empty rows, ...".
  std::string text() const;
};

/// Takes time in proportion to the rows, and to no more than a few hundred thousand elements: those of
/// groups of 16 rows all over the matrix.
pattern_fingerprint fingerprint_of(const pattern_arrays& a);

}  // namespace tilewright
