// Formats of sparse matrices that a user states: the axes of their storage, and maps between rows and columns
// and the coordinates along these axes (SparseTIR, ASPLOS 23, section 3.2.1: format rewrite rules).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/ir/index_map.hpp>
#include <tilewright/ir/sparse.hpp>

namespace tilewright::sparse {

/// One axis of a format.
struct format_axis {
  std::string name;
  ir::axis_kind kind = ir::axis_kind::dense_fixed;
  std::string parent = {};  // an axis before; "": it stands alone
  std::int64_t length = 1;  // of the coordinates
  std::int64_t width = 0;   // sparse_fixed: elements below each position of the parent
};

/// A format of matrices of one size. Blocks of 2 x 2 of a matrix of 9 x 12 are
/// ```
/// format_rule{"blocks",
///             {{"IO", axis_kind::dense_fixed, "", 5},
///              {"JO", axis_kind::sparse_variable, "IO", 6},
///              {"JI", axis_kind::dense_fixed, "JO", 2},
///              {"II", axis_kind::dense_fixed, "JO", 2}},
///             make_index_map("IndexMap.from_func(lambda i, j: (i // 2, j // 2, j % 2, i % 2), "
///                            "inverse_index_map=lambda io, jo, ji, ii: (io * 2 + ii, jo * 2 + ji))")}
/// ```
/// or, as a script that `print` writes and `parse_format_rule` reads:
/// ```
/// @T.format
/// def blocks():
///     IO = T.dense_fixed(5)
///     JO = T.sparse_variable(IO, 6)
///     JI = T.dense_fixed(2, JO)
///     II = T.dense_fixed(2, JO)
///     return tvm.tir.IndexMap.from_func(lambda i, j: (i // 2, j // 2, j % 2, i % 2), inverse_index_map=...)
/// ```
/// Sparse axes store those coordinates below which an element lies; sparse_fixed ones, T.sparse_fixed(I, (length,
/// width)), fill up with others. Every place below is stored, and counts as a zero where it holds no element, or as the
/// default value of the parameter.
struct format_rule {
  std::string name;
  std::vector<format_axis> axes;  // in the order of storage
  ir::index_map map;  // (row, column) -> coordinates along the axes; it carries the inverse
};

/// Makes a format for matrices of so many rows and columns.
using format_maker = std::function<format_rule(std::int64_t rows, std::int64_t columns)>;

/// Requires: 1. axes have names of their own and at least one coordinate each; the first stands alone; each up to the
/// last sparse one is below the one before it, and those behind are dense; sparse_fixed ones have 1 to `length`
/// places, and none is dense_variable; 2. the map takes a row and a column to one coordinate for each axis, and its
/// inverse takes these back; 3. the inverse takes the coordinates of each element to its row and column; 4. the map
/// takes the row and column of each place to the coordinates of that place, so that no two places are one element;
/// 5. coordinates of elements are within the axes; 6. no two combinations of coordinates along the axes that the row
/// depends on are one row, and none is negative. 3 to 6 are proved with the simplifier and the iteration maps of `arith`, for all
/// coordinates at once.
/// @throws argument_error with rule, requirement and what was not proved
void check_format_rule(const format_rule& rule, std::int64_t rows, std::int64_t columns);

/// Text that `parse_format_rule` reads back into a rule that prints equally.
std::string print(const format_rule& rule);

/// Reads one rule; any input is safe.
/// @throws parse_error with line, column and what was expected there
format_rule parse_format_rule(std::string_view text);

/// The arrays of a matrix in such a format.
struct formatted_pattern {
  struct level {
    std::vector<std::int64_t> offsets;  // sparse_variable: [positions of the parent + 1]
    std::vector<std::int64_t> indices;  // sparse: coordinates
  };
  std::vector<level> levels;         // [axes]
  std::vector<std::int64_t> source;  // the element at each place; -1: none, a zero  // [places]

  /// Values of the places from those of the elements, a gather.
  /// @param absent what places without an element hold
  template <class T>
  std::vector<T> gather(const std::vector<T>& elements, T absent = T(0)) const {
    std::vector<T> out(source.size(), absent);
    for (std::size_t at = 0; at < out.size(); ++at)
      if (source[at] >= 0) out[at] = elements[static_cast<std::size_t>(source[at])];
    return out;
  }
};

/// Stores elements by a rule, which is checked before.
///
/// Requires: 1. as many rows as columns of elements, in any order, all in the matrix, none twice; 2. no position has more
/// coordinates below it than a sparse_fixed axis has places; 3. no more than `most_places` places in all.
/// @param row, column of each element
/// @throws argument_error with rule, requirement, position and value
formatted_pattern store_by_rule(const format_rule& rule, std::int64_t rows, std::int64_t columns,
                                const std::vector<std::int64_t>& row,
                                const std::vector<std::int64_t>& column,
                                std::int64_t most_places = std::int64_t{1} << 40);

}  // namespace tilewright::sparse
