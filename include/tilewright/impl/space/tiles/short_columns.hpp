// Columns that are shorter than a vector, as three channels of pixels that lie side by side: the pixels of
// a row and their columns become the lanes of vectors together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/impl/space/vector_axis.hpp>
#include <tilewright/impl/space/windows/own_windows.hpp>
#include <tilewright/ir/loop_notes.hpp>
#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/chooser.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/target/cpu.hpp>
#include <tilewright/target/lane_step.hpp>

namespace tilewright::space::detail {

/// The variable whose elements, with those of the columns, lie side by side in the result.
inline std::optional<std::size_t> beside_columns(const block_profile& p, std::size_t columns) {
  for (std::size_t i = 0; i < p.kind.size(); ++i)
    if (i != columns && p.kind[i] == ir::iter_kind::spatial && p.extent[i] > 1 &&
        p.write.stride[i] == p.extent[columns])
      return i;
  return std::nullopt;
}

/// Whether lanes over both variables read elements that lie so near that vectors of them are shuffled
/// together.
inline bool reads_nearby(const access_profile& read, std::size_t beside, std::size_t columns,
                         std::int64_t extent) {
  return loads_vectors(read, columns) && read.stride[beside] >= 0 &&
         read.stride[beside] <= target::cheap_lane_step * extent;
}

/// The variable that lanes had better run over together with the columns: where these fill half a vector
/// at most, nothing that the block reads is shared by several results, and no other block reads or makes
/// what it does, whose loops would have to be the same.
inline std::optional<std::size_t> suits_fused_columns(const schedule& s, const std::string& name,
                                                      const block_profile& p,
                                                      const context& where) {
  const std::optional<std::size_t> columns = p.contiguous();
  if (!columns || !is_output(s, name) || !producer_names(s, name).empty()) return std::nullopt;
  const std::int64_t extent = p.extent[*columns];
  if (2 * extent > where.cpu->lanes(p.write.buffer->type) || !own_operand(p)) return std::nullopt;
  const std::optional<std::size_t> beside = beside_columns(p, *columns);
  const auto nearby = [&](const access_profile& read) {
    return reads_nearby(read, *beside, *columns, extent);
  };
  return beside && support::all(p.reads, nearby) ? beside : std::nullopt;
}

/// How many elements are written out: after `period` vectors the columns begin with lane 0 again, so that
/// what each lane reads is known; or all of a short row.
inline expr_rv elements_at_once(schedule& s, std::int64_t extent, std::int64_t row,
                                std::int64_t lanes, chooser& choices) {
  constexpr std::int64_t most_vectors = 8;
  const std::int64_t period = extent / std::gcd(extent, lanes) * lanes;
  if (row <= most_vectors * lanes && row > period)
    return choices.categorical(s, {row, period}, {2, 1});
  if (row <= period) return choices.categorical(s, {row}, {1});
  return choices.categorical(s, {period, 2 * period, 4 * period}, {2, 1.5, 1});
}

/// `for p, q, c, r, s` becomes `for p, v_0, r, s, v_1`, where v is q and c, and v_1 the lanes. A structural choice, the
/// first one where it suits the block.
/// @returns whether it was taken
inline bool fuse_short_columns(schedule& s, const std::string& name, const context& where,
                               chooser& choices) {
  const std::optional<block_profile> p = profile(s, name);
  const std::optional<std::size_t> beside =
      p ? suits_fused_columns(s, name, *p, where) : std::nullopt;
  if (!beside || choices.pick(2) == 1) return false;
  const std::size_t columns = *p->contiguous();
  const block_rv block = s.get_block(name);
  const std::vector<loop_rv> loops = s.get_loops(block);
  std::vector<loop_rv> order, reduced;
  for (std::size_t i = 0; i < loops.size(); ++i)
    if (p->kind[i] == ir::iter_kind::reduce)
      reduced.push_back(loops[i]);
    else if (i != columns && i != *beside)
      order.push_back(loops[i]);
  order.push_back(loops[*beside]);
  order.push_back(loops[columns]);
  order.insert(order.end(), reduced.begin(), reduced.end());
  s.reorder(order);
  const std::int64_t lanes = where.cpu->lanes(p->write.buffer->type), extent = p->extent[columns];
  const expr_rv width = elements_at_once(s, extent, extent * p->extent[*beside], lanes, choices);
  const auto [rest, lane] = s.split(s.fuse(loops[*beside], loops[columns]), {infer, width});
  std::vector<loop_rv> inner{rest};
  inner.insert(inner.end(), reduced.begin(), reduced.end());
  inner.push_back(lane);
  s.reorder(inner);
  s.vectorize(lane);
  if (reduced.empty()) return true;
  s.annotate(reduced.front(), ir::unroll_note, choices.categorical(s, {0, 64, 192}, {1, 1, 2}));
  s.decompose_reduction(block, reduced.front());
  return true;
}

}  // namespace tilewright::space::detail
