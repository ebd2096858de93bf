// What a function asks of the memory it is called with.
//
// The same facts serve the tuner, which makes up arguments, and the call, which checks the user's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/ir/stmt.hpp>

namespace tilewright::search {

/// Parameter of a function with literal extents.
struct operand {
  std::string name;
  dtype type = dtype::f32;
  bool scalar = false;
  std::vector<std::int64_t> extents;  // [rank], elements
  std::vector<std::int64_t>
      strides;  // [rank], elements: as declared; row-major where left to run time
  bool written = false;
  bool read = false;  // outputs of reductions count as read only where a block says so
  /// Values an element may have when it is used as an index: [first, last].
  struct index_range {
    std::int64_t first, last;
  };
  std::optional<index_range> index;
  /// Integers that reach an index, an extent, a divisor or a shift, by any way: not every value has a
  /// meaning there.
  bool steers = false;
  /// Elements that never decrease, from 0 to the number of elements of another parameter.
  struct offsets_into {
    std::size_t parameter;  // whose elements between two offsets rise
    std::int64_t last;
  };
  std::optional<offsets_into> offsets = {};

  std::int64_t elements() const;
};

/// The parameters of `f` in order. An integer parameter whose elements index another tensor, directly or in
/// a linear expression, gets the range for which every such access is in bounds; offsets of sparse rows
/// are named by an attribute of the function, sparse::lower's.
/// @throws argument_error when an extent is no literal, and as ir::check_extents
std::vector<operand> operands(const ir::function& f);

/// Properties of a function that decide which made-up values are sane.
struct value_needs {
  bool positive = false;  // logarithms, roots, powers, float divisions: keep away from 0 and below
  bool integer_divisor = false;  // an integer division by data: keep away from 0
  std::int64_t reduction = 1;    // terms of the longest reduction, for tolerances
  double epsilon = 0;            // of the narrowest float stored or rounded to, for tolerances
  double error = 0;              // that the function allows its algorithms, for tolerances
  bool product =
      false;  // a reduction multiplies: the order decides what overflows before a zero comes
  bool joint = false;  // a reduction keeps several values: equal keys may take either's company
  bool exact = false;  // schedules keep the order of terms: their results are equal
  /// Exponentials beside sums of products: what such a sum is rounded by grows with its size there.
  bool exponential = false;
};
value_needs needs_of(const ir::function& f);

/// Attribute of a function whose f32 factors may be rounded: "tf32", to 11 bits, as tensor cores do it.
inline constexpr const char* factors_attribute = "tilewright.factors";

/// Distance from 1 to the next value of a float type.
double epsilon_of(dtype type);

/// Row-major contiguous strides, as far as 64 bits reach. // elements
std::vector<std::int64_t> row_major(const std::vector<std::int64_t>& extents);

/// Offsets of the first and the last element that lie in memory, relative to element 0.
struct memory_span {
  std::int64_t first = 0, last = 0;  // elements; last < first when there is none
};
/// As far as 64 bits reach.
memory_span span_of(const std::vector<std::int64_t>& extents,
                    const std::vector<std::int64_t>& strides);

}  // namespace tilewright::search
