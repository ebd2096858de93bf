// Classes of argument layouts: what of an argument's strides is compiled into code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/ir/stmt.hpp>

namespace tilewright::dispatch {

/// Of a dense argument, in any order of its dimensions, the code knows all strides; of any other one only the
/// unit-stride dimension, and the rest is loaded at the call.
struct layout_class {
  bool dense = true;
  std::vector<int> order;  // dense: dimensions from the outermost to the innermost
  int unit = -1;           // not dense: the dimension with stride 1, -1 when there is none

  /// "r" row-major, "d10" dense with dimension 0 innermost, "u1", "u-".
  std::string text() const;
  /// Strides of a dense class at other extents; for another class those of a padded array.
  std::vector<std::int64_t> strides(const std::vector<std::int64_t>& extents) const;
};

/// Class of an argument. Dimensions of extent 1 may have any stride.
layout_class classify(std::size_t rank, const std::int64_t* extents, const std::int64_t* strides);

/// The function for arguments of these layouts, one per parameter (those of scalars are ignored). A dense
/// parameter gets its dimensions in the order of memory, at its declaration and every use, and so do temporaries
/// that go with it: whatever order users have, schedules and code see rows. Others get strides that are loaded
/// at the call.
/// ```
/// C: (M, N)   C[vi, vj] = ...    ->    C: (N, M)   C[vj, vi] = ...        for a column-major C
/// ```
ir::function with_layouts(const ir::function& f, const std::vector<layout_class>& layouts);

}  // namespace tilewright::dispatch
