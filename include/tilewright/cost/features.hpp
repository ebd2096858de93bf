// What a learned cost model sees of a scheduled program: 164 numbers per store.
//
// The layout is that of TVM's per-store features, so that models and experience carry over. The
// program is walked as it stands: blocks are bound, initializations are placed, allocations are
// shrunk and unit loops are skipped in the walk itself, since lowering would cost more than all
// features together. Differently from TVM, several stores into one buffer and stores of constants
// have rows, tensor intrinsics have rows, integer kernels have a curve of arithmetic intensity, and
// buffers beyond the fifth are added to the fifth.
//
//   0  arithmetic of the stored value times the iterations around it: float, integer {mad, add/sub,
//      mul, div/mod, min/max/compare, pure call, other call}, bool, select. mad is always 0
//  16  vectorized, unrolled, parallel loops: {number, product, innermost, 8 x position}
//  49  GPU: {flag, blockIdx x y z, threadIdx x y z, vthread}
//  57  five buffers: {read, write, both, bytes, unique bytes, lines, unique lines, 3 x reuse kind,
//      distance in iterations, distance in bytes, reuses, the four sizes per reuse, stride}
// 147  arithmetic intensity at tenths of the work
// 157  allocation of the stored buffer: {bytes, elements * outer, outer, rest}
// 161  {iterations, loops, pragma_auto_unroll_max_step}
// Everything but flags is log2(|x| + 1).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/support/hash.hpp>

namespace tilewright::cost {

/// Numbers per store.
inline constexpr std::size_t feature_count = 164;
using feature_row = std::array<float, feature_count>;

struct feature_options {
  int cache_line = 64;  // bytes
  bool gpu = false;     // what has loops bound to threads is for a GPU without it, too
};

/// One row per store, in program order, the initialization of a reduction before its update. A
/// program without stores has no rows. Loops of unknown, empty or negative extent count as one
/// iteration.
std::vector<feature_row> store_features(const ir::function& f, const feature_options& options = {});

/// Features by program key, for searches that meet the same program again and again. Any number of
/// threads may ask at once.
class feature_cache {
 public:
  using rows = std::shared_ptr<const std::vector<feature_row>>;

  /// Forgets everything when more than `limit` programs are held.
  explicit feature_cache(std::size_t limit = 1 << 14) : limit_(limit) {}

  /// Features of `f`, whose key is `key`.
  rows of(const ir::function& f, const support::hash128& key, const feature_options& options = {});
  std::size_t size() const;

 private:
  std::size_t limit_;
  mutable std::mutex mutex_;
  std::unordered_map<support::hash128, rows> known_;
};

}  // namespace tilewright::cost
