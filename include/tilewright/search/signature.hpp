// A kernel and its arguments as far as calling goes, with types erased.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/support/dtype.hpp>

namespace tilewright::search {

/// Parameter of a kernel.
struct parameter_signature {
  struct dimension {
    std::string name;         // empty when static
    std::int64_t extent = 0;  // when static
  };
  std::string name;
  dtype type = dtype::f32;
  bool written = false;
  bool updated = false;         // read before it is written: inout
  std::vector<dimension> dims;  // [rank]
};

/// A kernel as far as calling it goes.
struct kernel_signature {
  std::string name;
  std::vector<parameter_signature> params;
};

/// One argument: address of element 0, and its extents and strides in elements, rank entries each.
struct call_argument {
  void* data;
  const std::int64_t* extents;
  const std::int64_t* strides;
};

/// Order of the elements of dense arguments.
enum class storage { row_major, column_major };

}  // namespace tilewright::search
