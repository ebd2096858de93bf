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
  /// Whether extents are padded to whole tiles.
  bool whole = false;
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
    if (whole) {
      spare(rows, m);
      spare(columns, n);
    }
    const std::int64_t sides = side(rows) + side(columns);
    while (k > few && steps[0] < 8 && sides * steps[0] < 16) steps[0] *= 2;
    constexpr std::int64_t alone = 4, small = 12,
                           many = 32;  // tiles of a step, of both sides, of all
    if (deep && k >= many && sides <= small && blocks() <= blocks_of_all) {
      steps[0] = std::max(steps[0], alone);
      further = 1;
    }
    while (whole && steps[0] > 1 && cost(k, steps[0], 0.5) > cost(k, steps[0] / 2, 0.5))
      steps[0] /= 2;
  }

  /// Tiles of a block: rows, columns, and terms of a step.
  std::vector<std::int64_t> sides() const { return {side(rows), side(columns), side(steps, 0)}; }

 private:
  static std::int64_t side(const std::vector<std::int64_t>& x, std::size_t first = 1) {
    std::int64_t out = 1;
    for (std::size_t d = first; d < x.size(); ++d) out *= x[d];
    return out;
  }

  /// What `n` tiles cost in groups of `group`: those that are computed, padding among them, and what a group costs beside
  /// its tiles, as a share of one.
  static double cost(std::int64_t n, std::int64_t group, double own) {
    const std::int64_t all = (n + group - 1) / group * group;
    return static_cast<double>(all) * (1 + own / static_cast<double>(group));
  }

  /// Fewer warps and smaller tiles of a warp where much of the last group of `n` tiles would be padding.
  static void spare(std::vector<std::int64_t>& x, std::int64_t n) {
    std::vector<std::int64_t> best = x;
    for (std::int64_t warps = x[1]; warps > 0; --warps)
      for (std::int64_t tiles = x[2]; tiles > 0; --tiles) {
        std::vector<std::int64_t> other = x;
        other[1] = warps;
        other[2] = tiles;
        if (cost(n, side(other), 1) < cost(n, side(best), 1)) best = std::move(other);
      }
    x = std::move(best);
  }

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

/// Whether loops of so many tiles, whose last ones are rows, columns and the reduction, have no rest of tiles of a block.
inline bool divide(const first_tiles& first, const schedule& s, const std::vector<loop_rv>& loops) {
  const std::vector<std::int64_t> sides = first.sides();
  for (std::size_t d = 0; d < sides.size(); ++d) {
    const ir::expr extent = s.get(loops[loops.size() - sides.size() + d]).extent;
    if (ir::is_int(extent) && ir::as_int(extent) % sides[d] != 0) return false;
  }
  return true;
}

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
