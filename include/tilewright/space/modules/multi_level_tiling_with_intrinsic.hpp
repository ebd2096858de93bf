// Module: multi-level tiling around a tensor intrinsic (TVM: MultiLevelTilingWithIntrin).
#pragma once

#include <string>

#include <tilewright/space/modules/multi_level_tiling.hpp>

namespace tilewright::space {

/// Splits off the loops that the intrinsic's description computes, makes a block of them, annotates
/// it `meta_schedule.auto_tensorize` = the intrinsic's name, and tiles the loops around it. What is
/// left, the replacement by the implementation, is post-processing (rewrite_tensorize).
/// ```
/// dot_16x4   i, j, k  ->  tiles of (i, j / 16, k / 4) | block C_o: j 16, k 4
/// ```
/// Which loops these are is found by trying, the innermost ones first, on a copy of the program
/// with operands and results in the scopes that the description names. A block into which the
/// description does not fit one to one, a convolution or one whose extents are no multiples, gets
/// its form first (space/tensor_form.hpp: reindexed). A block on which nothing matches is left
/// alone: a rule behind this one may tile it.
struct multi_level_tiling_with_intrinsic {
  std::string intrinsic;
  multi_level_tiling tiling = cpu_tiling();
  bool reindex = true;  // false: only what fits one to one

  /// @throws argument_error when no intrinsic has the name
  void operator()(schedule& s, const std::string& block, const context& where,
                  chooser& choices) const;
};

}  // namespace tilewright::space
