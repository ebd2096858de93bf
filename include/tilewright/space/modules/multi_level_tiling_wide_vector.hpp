// Module: multi-level tiling whose innermost tile is one long vector (TVM:
// MultiLevelTilingWideVector).
#pragma once

#include <string>

#include <tilewright/space/modules/multi_level_tiling.hpp>

namespace tilewright::space {

/// Tiles as `tiling` says, but the innermost tile of the last dimension of the output has as many
/// elements as one vector of `vector_bits`, where the dimension is longer. That loop stands last
/// and is vectorized; the extent need not be a multiple.
struct multi_level_tiling_wide_vector {
  multi_level_tiling tiling = srsrs();
  int vector_bits = 1024;

  void operator()(schedule& s, const std::string& block, const context& where,
                  chooser& choices) const;

  /// SRSRS with innermost factors up to 128.
  static multi_level_tiling srsrs();
};

}  // namespace tilewright::space
