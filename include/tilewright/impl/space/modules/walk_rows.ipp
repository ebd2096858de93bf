#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <tilewright/impl/space/windows/borders.hpp>
#include <tilewright/impl/space/windows/own_windows.hpp>
#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/modules/walk_rows.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/numbers/checked.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::space {
namespace detail {

/// Fewest vectors of results that one thread walks along, where rows are long.
inline constexpr std::int64_t least_walk = 64;

/// The reduction variable from step to step of which vectors of an operand are a page or more apart, or further than the
/// second-level cache reaches in all steps, where it is the only one of several values and operands serve a few rows of results at most.
/// A tile in registers would take a few vectors of each page: of 32 rows of 16 KB, 4096 f32 sums take 5.9 us so, and 2.9 us
/// row by row. Of 2000 rows of 1 KB, two sums of each column take 26 us so, a quarter of each row at a time, and 20 us row by row.
inline std::optional<std::size_t> distant_rows(const block_profile& p, std::size_t columns,
                                               const context& where) {
  constexpr std::int64_t page = 4096, least_rows = 8, most_results = 4, least_vectors = 8;
  const std::optional<std::size_t> reuse = p.reuse(columns);
  const std::int64_t lanes = where.cpu->lanes(p.write.buffer->type), length = p.extent[columns];
  const bool long_rows = length >= least_walk * lanes;
  if ((reuse && p.extent[*reuse] > most_results) || !p.loads_vectors(columns) ||
      (!long_rows && (length < least_vectors * lanes || length % lanes != 0)))
    return std::nullopt;
  std::optional<std::size_t> out;
  for (std::size_t i = 0; i < p.kind.size(); ++i) {
    if (p.kind[i] != ir::iter_kind::reduce || p.extent[i] < 2) continue;
    if (out) return std::nullopt;
    out = i;
  }
  if (!out || p.extent[*out] < least_rows) return std::nullopt;
  const auto distant = [&](const access_profile& read) {
    const std::int64_t size = bytes(read.buffer->type), step = read.stride[*out];
    if (read.stride[columns] != 1 || step < length) return false;
    return long_rows ? step >= page / size : step > where.cpu->l2_bytes / size / p.extent[*out];
  };
  return support::any(p.reads, distant) ? out : std::nullopt;
}

/// A number of vectors of results that a tile may have.
struct walk_length {
  std::int64_t vectors = 0;
  bool whole = false;   // tiles are; along others each vector is compared with the end
  bool shared = false;  // there is a tile for each thread
};

/// The lengths of tiles, shorter ones where threads would have none otherwise.
inline std::vector<walk_length> walk_lengths(const block_profile& p, std::size_t columns,
                                             const context& where) {
  constexpr std::int64_t least_shared = 8;
  const std::int64_t extent = p.extent[columns], lanes = where.cpu->lanes(p.write.buffer->type);
  const std::optional<std::size_t> reuse = p.reuse(columns);
  std::int64_t outer = 1;
  for (std::size_t i = 0; i < p.kind.size(); ++i)
    if (i != columns && i != reuse && p.kind[i] == ir::iter_kind::spatial)
      outer = support::saturated_product(outer, p.extent[i]);
  const auto tiles = [&](std::int64_t vectors) {
    return support::saturated_product(outer, (extent - 1) / (vectors * lanes) + 1);
  };
  std::int64_t least = std::min(least_walk, extent / lanes);
  while (least > least_shared && tiles(least) < where.threads) least /= 2;
  std::vector<walk_length> out;
  for (std::int64_t vectors = least; vectors <= 4 * least_walk && vectors * lanes <= extent;
       vectors *= 2)
    out.push_back({vectors, extent % (vectors * lanes) == 0, tiles(vectors) >= where.threads});
  return out;
}

/// Whether windows of neighbours along another variable than the columns have rows in common.
inline bool shares_rows(const ir::block_node& b, const block_profile& p, std::size_t columns) {
  for (std::size_t i = 0; i < p.kind.size(); ++i)
    if (i != columns && p.kind[i] == ir::iter_kind::spatial && p.extent[i] > 1 &&
        windows_overlap(b, i))
      return true;
  return false;
}

/// Whether the first sketch walks: 5000 f32 sums, no whole tiles, take 7.5 us so and 4.8 us in registers. Nor where rows
/// serve several results, a tile of which loads them once: windows of 9 rows take 3.4 ms row by row, 2.6 ms in registers.
inline bool suits_walks(const ir::block_node& b, const block_profile& p, std::size_t columns,
                        const context& where) {
  return !shares_rows(b, p, columns) &&
         support::any(walk_lengths(p, columns, where),
                      [](const walk_length& length) { return length.whole; });
}

/// Whether the rows that are summed do not fit the last cache.
inline bool reads_memory(const block_profile& p, std::size_t columns, std::size_t reduced,
                         const context& where) {
  const std::int64_t elements = support::saturated_product(p.extent[columns], p.extent[reduced]);
  return support::any(p.reads, [&](const access_profile& read) {
    return read.stride[columns] == 1 &&
           support::saturated_product(elements, bytes(read.buffer->type)) >
               std::max(where.cpu->l2_bytes, where.cpu->l3_bytes);
  });
}

/// How likely 1, 2, 4 and 8 rows at once are. Memory is read at its rate by several: 4096 rows of 16 KB take 2.7 ms by 2,
/// 1.7 ms by 8. Several results are loaded and stored once for all rows of a group, whose factors, one of each row and
/// result, take half of the registers at most: 4 results of 1024 products take 59 us by 2, 46 us by 4 and 49 us by 8.
inline std::vector<double> weights_at_once(const block_profile& p, std::size_t columns,
                                           std::size_t reduced, const context& where) {
  if (reads_memory(p, columns, reduced, where)) return {1, 1, 2, 3};
  const std::optional<std::size_t> results = p.reuse(columns);
  const std::int64_t factors =
      results ? where.cpu->vector_registers / 2 / p.extent[*results] : std::int64_t{2};
  return factors >= 8   ? std::vector<double>{1, 1, 2, 3}
         : factors >= 4 ? std::vector<double>{1, 2, 3, 1}
                        : std::vector<double>{1, 3, 2, 1};
}

/// The block that finishes the sums, as a mean divides them: the only one that reads them, each of its elements from the
/// sum at its own place, and what the function returns.
inline std::optional<std::string> finisher(const schedule& s, const std::string& name,
                                           const block_profile& sum) {
  const std::vector<std::string> readers = consumer_names(s, name);
  if (readers.size() != 1 || is_output(s, name) || !is_output(s, readers[0]) ||
      !consumer_names(s, readers[0]).empty() || producer_names(s, readers[0]).size() != 1)
    return std::nullopt;
  const std::optional<block_profile> p = profile(s, readers[0]);
  if (!p || p->reduction || p->updates) return std::nullopt;
  std::vector<std::int64_t> extents;
  for (std::size_t i = 0; i < sum.kind.size(); ++i)
    if (sum.kind[i] == ir::iter_kind::spatial) extents.push_back(sum.extent[i]);
  const std::vector<ir::buffer_region>& sums = named_block(s, name).block->writes;
  const auto at_its_place = [&](const access_profile& read) {
    const auto is_read = [&](const ir::buffer_region& w) { return w.buffer == read.buffer; };
    return support::none(sums, is_read) || (read.affine && read.stride == p->write.stride);
  };
  const bool fits = p->extent == extents && support::all(p->reads, at_its_place);
  return fits ? std::optional(readers[0]) : std::nullopt;
}

/// Computes what finishes the sums of a tile right behind them, while they are in the nearest cache; below a tile that
/// does not divide it may be refused, and stays a nest of its own, which reads one row where the sums have read many.
inline void finish_below(schedule& s, const std::string& finishing, loop_rv tile) {
  schedule attempt = s;
  try {
    attempt.reverse_compute_at(attempt.get_block(finishing), tile, true);
    s = std::move(attempt);
  } catch (const schedule_error&) {
    // the other nest is as right
  }
}

/// Tiles of the columns, rows within a tile, a few rows at once along it: their sums stay in registers. Where
/// operands serve a few rows of results, a vector of them serves all of these.
inline void tile_rows(schedule& s, const std::string& name, const block_profile& p,
                      std::size_t columns, std::size_t reduced,
                      const std::optional<std::string>& finishing, const context& where,
                      chooser& choices) {
  const std::int64_t lanes = where.cpu->lanes(p.write.buffer->type);
  constexpr double ragged = 1.0 / 16, idle = 1.0 / 16;
  std::vector<std::int64_t> lengths;
  std::vector<double> weights;
  for (const walk_length& l : walk_lengths(p, columns, where)) {
    lengths.push_back(l.vectors);
    weights.push_back(static_cast<double>(l.vectors) / least_walk * (l.whole ? 1 : ragged) *
                      (l.shared ? 1 : idle));
  }
  const block_rv block = s.get_block(name);
  const std::vector<loop_rv> loops = s.get_loops(block);
  const expr_rv length = choices.categorical(s, lengths, weights);
  const expr_rv rows =
      choices.categorical(s, {1, 2, 4, 8}, weights_at_once(p, columns, reduced, where));
  const auto [tile, along, vector] = s.split(loops[columns], {infer, length, lanes});
  const auto [row_group, row] = s.split(loops[reduced], {infer, rows});
  const std::optional<std::size_t> results = p.reuse(columns);
  std::vector<loop_rv> order;
  for (std::size_t i = 0; i < loops.size(); ++i)
    if (i != columns && i != results && p.kind[i] == ir::iter_kind::spatial)
      order.push_back(loops[i]);
  order.push_back(tile);
  const std::vector<loop_rv> outer = order;
  std::optional<loop_rv> first_reduced;
  for (std::size_t i = 0; i < loops.size(); ++i)
    if (i != reduced && p.kind[i] == ir::iter_kind::reduce) {
      order.push_back(loops[i]);
      if (!first_reduced) first_reduced = loops[i];
    }
  order.insert(order.end(), {row_group, along});
  if (results) order.push_back(loops[*results]);
  order.insert(order.end(), {row, vector});
  s.reorder(order);
  if (finishing) finish_below(s, *finishing, tile);
  if (where.threads > 1) s.parallel(s.fuse(outer));
  s.vectorize(vector);
  if (results) s.unroll(loops[*results]);
  s.unroll(row);
  s.decompose_reduction(block, first_reduced ? *first_reduced : row_group);
}

}  // namespace detail

TILEWRIGHT_INLINE bool walk_rows(schedule& s, const std::string& block, const context& where,
                                 chooser& choices) {
  const std::optional<block_profile> p = reduction_profile(s, block);
  if (!p || !p->reduction || !p->contiguous() || detail::skips_zeros(*named_block(s, block).block))
    return false;
  const std::optional<std::string> finishing =
      p->reuse(*p->contiguous()) ? std::nullopt : detail::finisher(s, block, *p);
  if (!finishing && !consumer_names(s, block).empty()) return false;
  const std::size_t columns = *p->contiguous();
  const std::optional<std::size_t> rows = detail::distant_rows(*p, columns, where);
  if (!rows || (choices.pick(2) == 0) !=
                   detail::suits_walks(*named_block(s, block).block, *p, columns, where))
    return false;
  detail::tile_rows(s, block, *p, columns, *rows, finishing, where, choices);
  return true;
}

}  // namespace tilewright::space
