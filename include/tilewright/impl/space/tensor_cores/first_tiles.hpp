// The tiles of a product on tensor cores that are tried first: large ones, which read operands seldom,
// as long as they give every multiprocessor a block.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <tilewright/schedule/schedule.hpp>
#include <tilewright/target/gpu.hpp>

namespace tilewright::space::detail {

/// Factors of rows and columns behind the outermost (blocks side by side, warps, two of fragments), and those
/// of the reduction, all in tiles of a warp's product.
struct first_tiles {
  std::vector<std::int64_t> rows, columns, steps;
  /// Whether blocks that have a multiprocessor for themselves use its memory for longer steps.
  bool deep = false;
  /// Steps more that are copied ahead then.
  int further = 0;

  /// Makes them smaller until `blocks_of_all` blocks, or nearly as many, compute `m` x `n` tiles in each of
  /// `batches` products, and steps longer where tiles are small. A reduction of few tiles, `k`, is one step,
  /// of blocks that run beside others, which multiply while one stores. Where no multiprocessor has a second block,
  /// and steps are to be `deep`, all of its shared memory is there for longer ones, and one more on its way.
  void fit(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batches,
           std::int64_t blocks_of_all) {
    constexpr std::int64_t few = 4;
    if (k <= few) {
      steps[0] = k;
      while (side(columns) > side(rows) && shrink(columns)) {
      }
    }
    while (side(rows) > m && shrink(rows)) {
    }
    while (side(columns) > n && shrink(columns)) {
    }
    const auto blocks = [&] {
      return batches * ((m + side(rows) - 1) / side(rows)) *
             ((n + side(columns) - 1) / side(columns));
    };
    while (blocks() * 5 < blocks_of_all * 4) {
      const bool wide = side(columns) > side(rows);
      if (!shrink(wide ? columns : rows) && !shrink(wide ? rows : columns)) break;
    }
    const std::int64_t sides = side(rows) + side(columns);
    while (k > few && steps[0] < 8 && sides * steps[0] < 16) steps[0] *= 2;
    constexpr std::int64_t alone = 4, small = 12,
                           many = 32;  // tiles of a step, of both sides, of all
    if (!deep || k < many || sides > small || blocks() > blocks_of_all) return;
    steps[0] = std::max(steps[0], alone);
    further = 1;
  }

 private:
  static std::int64_t side(const std::vector<std::int64_t>& x) { return x[1] * x[2] * x[3]; }

  /// Half of it: fewer warps where there are many, else smaller tiles of a warp.
  static bool shrink(std::vector<std::int64_t>& x) {
    for (const std::int64_t least : {2, 1})
      for (const std::size_t at : {1U, 3U, 2U})
        if (x[at] > (at == 1 ? least : 1)) {
          x[at] = (x[at] + 1) / 2;
          return true;
        }
    return false;
  }
};

/// `wanted`, smaller where the loops of tiles, whose last ones are rows, columns and the reduction, are short.
inline first_tiles fitted(first_tiles wanted, const schedule& s, const std::vector<loop_rv>& loops,
                          const target::gpu* gpu) {
  std::vector<std::int64_t> extents;
  for (const loop_rv l : loops) {
    const ir::expr extent = s.get(l).extent;
    if (!ir::is_int(extent)) return wanted;
    extents.push_back(ir::as_int(extent));
  }
  std::int64_t batches = 1;
  for (std::size_t d = 0; d + 3 < extents.size(); ++d) batches *= extents[d];
  const std::size_t first = extents.size() - 3;
  wanted.fit(extents[first], extents[first + 1], extents[first + 2], batches,
             gpu ? gpu->multiprocessors : 1);
  return wanted;
}

}  // namespace tilewright::space::detail
