// What a register tile promises a block: its multiply-adds a load, less what registers, caches, windows and conditions
// take of it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <tilewright/impl/space/tiles/cached_rows.hpp>
#include <tilewright/impl/space/tiles/stageable_operands.hpp>
#include <tilewright/impl/space/tiles/tile_conditions.hpp>
#include <tilewright/impl/space/windows/borders.hpp>
#include <tilewright/impl/space/windows/own_windows.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/register_tiles.hpp>
#include <tilewright/space/space.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/numbers/checked.hpp>

namespace tilewright::space::detail {

/// The block that is tiled, and what of it is known by then.
struct tile_promise {
  static constexpr std::int64_t many_rows = 64;  // that pay for a panel of what they all use

  const schedule& s;
  block_rv block;
  const block_profile& profile;
  std::size_t columns;
  std::optional<std::size_t> shared_rows,
      rows;  // shared_rows: along which an operand is used again
  bool own_windows;
  const context& where;
  bool spread_in_place;  // elements of every few are shuffled where they are loaded

  /// The tiles that may be drawn, each with its promise as its weight.
  std::vector<register_tile> tiles() const {
    const std::int64_t row_extent = rows ? profile.extent[*rows] : 1;
    // in a tile of whole periods, what a row takes part in does not depend on the tile
    const std::int64_t period = rows ? period_of_rows(*s.get(block).block, *rows) : 1;
    constexpr double ragged_period = 0.25;
    std::vector<register_tile> out =
        register_tiles(*where.cpu, profile.write.buffer->type, row_extent, profile.extent[columns]);
    for (register_tile& t : out) {
      const double weight =
          own_windows ? window_weight(t, row_extent, profile.extent[columns], vector_lanes(),
                                      !rows || windows_overlap(*s.get(block).block, *rows)) *
                            room_for_windows(t)
                      : t.weight * room_for_taps(t) * reuse_of_stream(t);
      t.weight = t.rows % period == 0 ? weight * rows_in_turn(t, period) : weight * ragged_period;
    }
    return out;
  }

  /// The first of those that promise most.
  register_tile likeliest() const {
    const std::vector<register_tile> all = tiles();
    return *std::max_element(
        all.begin(), all.end(),
        [](const register_tile& a, const register_tile& b) { return a.weight < b.weight; });
  }

  /// Positions of the operands whose vectors all rows of a tile use.
  std::vector<int> streamed_operands() const {
    return stageable_operands(s, profile, [&](const access_profile& r) {
      return r.stride[columns] == 1 && shared_rows && r.stride[*shared_rows] == 0;
    });
  }

  /// Positions of the operands that are loaded as vectors of the columns from a transposed panel.
  std::vector<int> transposed_operands() const {
    return stageable_operands(s, profile, [&](const access_profile& x) {
      return !loads_vectors(x, columns) && shared_rows &&
             !(spread_in_place && loads_spread(x, columns)) &&
             is_panel_material(s, *s.get(block).block, x, columns, *shared_rows);
    });
  }

  /// Whether the first sketch copies the streamed operand into panels: where it would not stay in the first-level
  /// cache and many rows use what was copied, or where it is bound and staging it costs a call nothing.
  bool stages_streamed(const std::vector<int>& streamed) const {
    return any_bound(streamed) || (bytes_of(streamed) > where.cpu->l1_bytes * 4 && rows &&
                                   (profile.extent[*rows] >= many_rows || copies_shared_panel()));
  }

  /// Whether several threads have enough tiles of columns to share out that no panel of these operands is made twice, so
  /// that each had better be transposed where it is used: all of the operand would be written by one thread, read by
  /// another. Scores of 12 heads, 128 x 64 times 64 x 128, take 50 us on two threads so, and 55 us with keys transposed before.
  bool tasks_own_panels(const std::vector<int>& transposed) const {
    constexpr std::int64_t tasks_of_thread = 4;
    if (where.threads == 1) return false;
    std::int64_t tasks = (profile.extent[columns] - 1) / likeliest().columns + 1;
    for (std::size_t i = 0; i < profile.kind.size(); ++i) {
      if (profile.kind[i] != ir::iter_kind::spatial || i == columns || i == rows ||
          profile.extent[i] == 1)
        continue;
      const auto shared = [&](const access_profile& r) {
        return support::contains(transposed, r.region) && r.stride[i] == 0;
      };
      if (support::any(profile.reads, shared)) return false;
      tasks = support::saturated_product(tasks, profile.extent[i]);
    }
    return tasks >= tasks_of_thread * where.threads;
  }

  bool any_bound(const std::vector<int>& regions) const {
    return detail::any_bound(s, *s.get(block).block, regions);
  }
  std::int64_t bytes_of(const std::vector<int>& regions) const {
    return bytes_of_operands(*s.get(block).block, regions);
  }

  /// Whether operands that the second-level cache does not hold would pass by again for each tile of results that all stay in the
  /// first-level one meanwhile, as gradients of depthwise filters: of 3 x 3 for 64 channels of 56 by 56 pixels take 38 us a
  /// row of filters at a time, and 21 us where each row of pixels serves all of them.
  bool passes_again() const {
    const std::int64_t results = profile.instances() / profile.terms(),
                       size = bytes(profile.write.buffer->type);
    std::int64_t reductions = 0;
    for (std::size_t i = 0; i < profile.kind.size(); ++i)
      reductions += profile.kind[i] == ir::iter_kind::reduce && profile.extent[i] > 1;
    const std::int64_t most_in_registers = where.cpu->vector_registers * vector_lanes();
    // what is broadcast serves all columns of a tile of rows, which pass by fewer times
    const auto is_streamed = [&](const access_profile& r) { return r.stride[columns] == 1; };
    return reductions > 1 && results > most_in_registers &&
           support::all(profile.reads, is_streamed) && results * size <= where.cpu->l1_bytes / 4 &&
           bytes_of(stageable_operands(s, profile, [](const access_profile&) { return true; })) >
               where.cpu->l2_bytes;
  }

  /// Bytes of the streamed operand that a tile of columns uses.
  std::int64_t panel_bytes(std::int64_t tile_columns) const {
    return support::saturated_product(profile.terms(),
                                      tile_columns * bytes(profile.write.buffer->type));
  }

  int vector_lanes() const { return where.cpu->lanes(profile.write.buffer->type); }

  /// Whether all steps along variable `i`, such as the rows of an image, had better use a panel of columns before the
  /// next one: weights are larger than the first-level cache, a panel and the pixels of a tile are not, the second-level
  /// cache holds a panel and all pixels, and less is moved than when each step reads all columns. A product of 256 by 1024
  /// weights and 14 by 14 pixels takes 449 us a row of pixels at a time, and 411 us a panel at a time; 16 to 128 channels
  /// of a transposed convolution to 11 by 13 pixels take 13.2 and 6.0 us.
  bool shares_panel(std::size_t i) const {
    if (own_windows || !shared_rows || profile.extent[i] < 2 || !transposed_operands().empty())
      return false;
    image_traffic moved;
    const std::vector<int> weights = stageable_operands(s, profile, [&](const access_profile& r) {
      return r.stride[columns] == 1 && r.stride[*shared_rows] == 0 && r.stride[i] == 0;
    });
    const std::vector<int> pixels = stageable_operands(
        s, profile, [&](const access_profile& r) { return r.stride[columns] == 0; });
    if (weights.size() != streamed_operands().size() || weights.empty() || pixels.empty())
      return false;
    const register_tile tile = likeliest();
    moved.weights = bytes_of(weights);
    moved.pixels = bytes_of(pixels);
    const std::int64_t cache = where.cpu->l2_bytes;
    if (moved.weights <= where.cpu->l1_bytes ||
        support::saturated_sum(panel_bytes(tile.columns), moved.pixels) > cache ||
        panel_bytes(tile.columns) + panel_bytes(tile.rows) > where.cpu->l1_bytes)
      return false;
    // rows that do not stay where they are do so in a copy
    if (rows_in_cache(tile) < profile.terms() &&
        support::saturated_product(profile.extent[*shared_rows], profile.extent[i]) < many_rows)
      return false;
    moved.rows = profile.extent[i];
    moved.panels = (profile.extent[columns] - 1) / tile.columns + 1;
    constexpr std::int64_t panels_of_thread = 4;
    return moved.suits_panels() &&
           (where.threads == 1 || moved.panels >= panels_of_thread * where.threads);
  }

  /// Whether rows of such a panel would not stay in the second-level cache, for their distance from each other, until the next
  /// step reads them, so that a copy of it is what steps share. With AVX2 and 256 KB, the product above takes 1608 us a row of
  /// pixels at a time, 1493 us by panels, and 858 us by copied ones.
  bool copies_shared_panel() const {
    if (!shared_rows || own_windows || rows_in_cache(likeliest()) >= profile.terms()) return false;
    for (std::size_t i = 0; i < profile.kind.size(); ++i)
      if (i != columns && i != *shared_rows && profile.kind[i] == ir::iter_kind::spatial &&
          shares_panel(i))
        return true;
    return false;
  }

  /// How many steps of the reduction fill half of the first-level cache, where each brings a row of a panel and a line of the
  /// operand that the next tap reads again. A transposed convolution of 512 channels first to 256, 4 by 4 in steps of two, takes
  /// 507 us by 256 channels, 490 us by 128.
  std::int64_t steps_between_taps() const {
    constexpr std::int64_t line = 64;
    const std::int64_t row = likeliest().columns * bytes(profile.write.buffer->type);
    return where.cpu->l1_bytes / 2 / (row + line);
  }

  /// How many steps of the reduction read rows of the streamed operand that the second-level cache still holds when
  /// the next tile of rows reads them; no bound where one tile has all rows, or panels are made. 16 rows times 1024 x
  /// 1024 weights, whose rows of 4 KB share a few sets, take 146 us in one go, 137 us by 256 steps; where pages are
  /// small, 211 and 143 us.
  std::int64_t steps_that_stay() const {
    constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();
    if (!shared_rows || own_windows || !transposed_operands().empty() ||
        stages_streamed(streamed_operands()))
      return any;
    int loops = 0;
    for (std::size_t i = 0; i < profile.kind.size(); ++i)
      loops += profile.kind[i] == ir::iter_kind::reduce && profile.extent[i] > 1;
    const register_tile tile = likeliest();
    return loops > 1 || profile.extent[*shared_rows] <= tile.rows ? any : rows_in_cache(tile);
  }

 private:
  /// How many rows of the streamed operand, a step of the reduction each, the second-level cache holds the columns of a
  /// tile of.
  std::int64_t rows_in_cache(const register_tile& t) const {
    constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();
    std::int64_t out = any;
    for (const access_profile& r : profile.reads) {
      if (!r.affine || r.stride[columns] != 1 || r.stride[*shared_rows] != 0) continue;
      std::int64_t distance = any;  // elements; that of other loops is a multiple of it
      for (std::size_t i = 0; i < profile.kind.size(); ++i)
        if (profile.kind[i] == ir::iter_kind::reduce && profile.extent[i] > 1 && r.stride[i] > 0)
          distance = std::min(distance, r.stride[i]);
      const std::int64_t element = bytes(r.buffer->type);
      if (distance != any)
        out = std::min(
            out, rows_that_stay(distance * element, t.columns * element, where.cpu->l2_bytes));
    }
    return out;
  }

  /// What is left of a tile's promise where each step is about one row of a period: less where the other operand
  /// comes from behind the second-level cache, and where conditions find few registers left.
  double rows_in_turn(const register_tile& t, std::int64_t period) const {
    if (period == 1) return 1;
    const bool crowded = crowds_period(t, vector_lanes(), where.cpu->vector_registers) &&
                         decides_last(*s.get(block).block);
    const bool far =
        bytes_of(streamed_operands()) + bytes_of(transposed_operands()) > where.cpu->l2_bytes;
    return (crowded ? 0.5 : 1) * (far ? sharing_in_period(t, period, vector_lanes()) : 1);
  }

  /// What is left of a tile's promise where zeros are left out of the taps of the innermost reduction, which
  /// are written out then: less than one where sums and operands of all taps do not fit the registers.
  double room_for_taps(const register_tile& t) const {
    constexpr std::int64_t most_statements = 1024;  // pass/unroll_loops.hpp
    const ir::block_node& b = *s.get(block).block;
    if (!rows || !skips_zeros(b) || period_of_rows(b, *rows) > 1) return 1;
    std::size_t innermost = profile.kind.size();
    for (std::size_t i = 0; i < profile.kind.size(); ++i)
      if (profile.kind[i] == ir::iter_kind::reduce && profile.extent[i] > 1) innermost = i;
    if (innermost == profile.kind.size() || !decides_rows(b, *rows, innermost)) return 1;
    const std::int64_t vectors = t.columns / vector_lanes(), taps = profile.extent[innermost];
    if (taps > most_taps || t.rows * vectors * taps > most_statements) return 1;
    return std::pow(
        room((t.rows + 1) * vectors + elements_of_taps(b, *rows, innermost, t.rows, taps)), 4);
  }

  /// What is left of a tile's promise where windows that serve one result each overlap along its rows, not along its
  /// columns, and taps along these are written out: sums, the elements that rows have in common, and a vector of the
  /// filter fit the registers, or some are kept in memory. 3 x 3 of each of 32 channels of 112 by 112 take 52 us in tiles of 7 x 32 with
  /// AVX-512, which need 34 of 32 registers, 41 us in tiles of 6 x 32, and 39 us in tiles of 4 x 32; with AVX2 they take 78 us in
  /// tiles of 2 x 32, which need 20 of 16 registers, 72 us in tiles of 4 x 16, which need 22, and 68 us in tiles of 3 x 16.
  double room_for_windows(const register_tile& t) const {
    const ir::block_node& b = *s.get(block).block;
    if (!rows || !windows_overlap(b, *rows) || reads_windows(b, columns)) return 1;
    const std::int64_t vectors = std::max<std::int64_t>(t.columns / vector_lanes(), 1);
    double out = 1;
    for (std::size_t i = 0; i < profile.kind.size(); ++i) {
      const std::int64_t taps = profile.extent[i];
      if (profile.kind[i] != ir::iter_kind::reduce || taps < 2 || taps > most_taps ||
          !moves_windows(b, *rows, i))
        continue;
      // of windows in long steps few elements are read by two rows, and the others pass through one register
      const std::int64_t elements = elements_of_taps(b, *rows, i, t.rows, taps),
                         shared = std::min(elements, t.rows * taps - elements);
      out = std::min(out, room((t.rows + shared + 1) * vectors));
    }
    return std::pow(out, 2);
  }

  /// The share of the registers needed that there are.
  double room(std::int64_t needed) const {
    return std::min(1.0,
                    static_cast<double>(where.cpu->vector_registers) / static_cast<double>(needed));
  }

  /// What is left of a tile's promise where each vector of the streamed operand comes from behind the
  /// first-level cache, and counts as two loads: rows are too few for a panel that many tiles use, or a transposed
  /// panel is larger than that cache. 16 x 313 results of 398 products each take 19.8 us in tiles of 4 x 64, 15.4 us in
  /// tiles of 8 x 48; 3x3 of 256 channels first of 14 by 14, transposed panels, take 983 us in tiles of 5 x 64, 917 us in
  /// tiles of 14 x 32.
  double reuse_of_stream(const register_tile& t) const {
    if (!rows || profile.extent[*rows] >= many_rows) return 1;
    const std::vector<int> streamed = streamed_operands(), across = transposed_operands();
    const bool from_rows =
        !streamed.empty() && !any_bound(streamed) && bytes_of(streamed) > where.cpu->l1_bytes;
    const bool from_panel =
        !across.empty() && !any_bound(across) && panel_bytes(t.columns) > where.cpu->l1_bytes;
    if (!from_rows && !from_panel) return 1;
    const double vectors = static_cast<double>(t.columns) / vector_lanes(),
                 loads = static_cast<double>(t.rows) + vectors;
    return std::pow(loads / (loads + vectors), 2);
  }
};

}  // namespace tilewright::space::detail
