// Module: element-wise blocks are computed where their values are used or made (MetaSchedule,
// section 3.2).
#pragma once

#include <string>
#include <vector>

#include <tilewright/space/chooser.hpp>
#include <tilewright/space/space.hpp>

namespace tilewright::space {

/// Inlines a block, into its consumers or into its producer, unless it writes an output; where
/// neither is wanted, worth it or legal, the block stays.
/// ```
/// into consumers    B[i] = A[i] * 2;  C[i] = B[i] + 1         ->   C[i] = A[i] * 2 + 1
/// into the producer P[i] = X[i] (a cache);  C[i] = max(P[i], 0)   ->   C[i] = max(X[i], 0)
/// ```
/// A block annotated `meta_schedule.inline_rule` = "disable" stays, and one that writes shared or
/// local memory: what it holds was staged there by another rule. Only complete blocks move, see
/// compute_inline and reverse_compute_inline; a reduction takes no epilogue, but the copy out of
/// its cache does.
struct auto_inline {
  bool into_consumers = true;
  bool into_producer = false;
  /// Blocks that read nothing go into their consumers whatever they compute.
  bool constant_tensors = true;
  /// In a function without reductions the limits below do not count: nothing is computed again in
  /// an inner loop.
  bool all_if_spatial = true;
  /// Blocks with if_then_else or an if around the store, such as paddings.
  bool conditionals = false;
  /// Only blocks whose reads follow their write (read_pattern).
  bool injective_reads = true;
  bool ordered_reads = true;
  /// Blocks that call functions, except those functions that are listed as too costly to repeat.
  bool calls = true;
  std::vector<std::string> costly{"exp"};

  void operator()(schedule& s, const std::string& block, const context& where,
                  chooser& choices) const;
};

}  // namespace tilewright::space
