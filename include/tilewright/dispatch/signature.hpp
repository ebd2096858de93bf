// A kernel and its arguments as far as calling goes, with types erased.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/support/dtype.hpp>

namespace tilewright::dispatch {

/// Parameter of a kernel.
struct parameter_signature {
  struct dimension {
    std::string name;         // empty when static
    std::int64_t extent = 0;  // when static
    std::int64_t more = 0;    // elements beyond the extent: n rows have n + 1 offsets
    /// What a message calls it where an array stands for a dimension of another tensor; "": its number
    /// and the parameter's name.
    std::string place = {};
  };
  std::string name;
  dtype type = dtype::f32;
  bool written = false;
  bool updated = false;         // read before it is written: inout
  std::vector<dimension> dims;  // [rank]
  /// Dimensions that no array has, as the columns of a sparse matrix; their extents follow those of
  /// `dims` in an argument.
  std::vector<dimension> beside = {};
  /// Offsets of a container that has checked them.
  bool checked = false;
  bool by_columns = false;  // offsets that are those of columns; of rows otherwise

  std::size_t rank() const { return dims.size(); }
  /// Extents of an argument.
  std::size_t extent_count() const { return dims.size() + beside.size(); }
  const dimension& dim(std::size_t d) const { return d < rank() ? dims[d] : beside[d - rank()]; }
};

/// A kernel as far as calling it goes.
struct kernel_signature {
  std::string name;
  std::vector<parameter_signature> params;
};

/// One argument: address of element 0, its extents and its strides in elements.
struct call_argument {
  void* data;
  const std::int64_t* extents;  // [extent_count]
  const std::int64_t* strides;  // [rank]
};

/// Order of the elements of dense arguments.
enum class storage { row_major, column_major };

}  // namespace tilewright::dispatch
