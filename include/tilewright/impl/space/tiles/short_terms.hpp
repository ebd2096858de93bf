// Sums over short rows that lie side by side with those of other results, as the channels of a group: a lane for each term.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/space/tiles/short_columns.hpp>
#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/chooser.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/space/space.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::space::detail {

/// The variable of the terms that lie side by side, where they fill half a vector at most, the terms of the next result follow them, and
/// another variable is summed over, too, so that what the lanes hold is added up once.
inline std::optional<std::size_t> short_terms(const block_profile& p, const context& where) {
  constexpr std::int64_t least_rows = 64;
  const std::int64_t lanes = where.cpu->lanes(p.write.buffer->type);
  const std::optional<std::size_t> results = p.contiguous();
  if (!p.reduction || p.in_order || !results) return std::nullopt;
  for (std::size_t terms = 0; terms < p.kind.size(); ++terms) {
    const std::int64_t extent = p.extent[terms];
    const auto side_by_side = [&](const access_profile& r) {
      return r.affine && r.stride[terms] == 1 && r.stride[*results] == extent;
    };
    const auto shared = [&](const access_profile& r) { return r.affine && r.stride[terms] == 0; };
    const auto fits = [&](const access_profile& r) { return side_by_side(r) || shared(r); };
    if (p.kind[terms] == ir::iter_kind::reduce && extent > 1 && 2 * extent <= lanes &&
        p.terms() >= least_rows * extent && support::all(p.reads, fits) &&
        support::any(p.reads, side_by_side))
      return terms;
  }
  return std::nullopt;
}

/// ```
/// for g, h, c: M[g] += X[h, g, c]
///   ->
/// for v_0, h, v_1 (vectorized): M_rf[v // 8, v % 8] += X[h, v // 8, v % 8]
/// for g, c: M[g] += M_rf[g, c]
/// ```
/// where v is g and c. A structural choice, the first one: rows are read once and side by side, where vectors of results would be
/// shuffled together of one term each.
/// @returns whether it was taken; then nothing else of the block is to be decided
inline bool sum_short_terms(schedule& s, const std::string& name, const context& where,
                            chooser& choices) {
  const std::optional<block_profile> p = reduction_profile(s, name);
  const std::optional<std::size_t> terms = p ? short_terms(*p, where) : std::nullopt;
  if (!terms) return false;
  schedule attempt = s;
  try {
    const int last = static_cast<int>(p->write.buffer->shape.size());
    const block_rv partial =
        attempt.rfactor(attempt.get_loops(attempt.get_block(name))[*terms], last);
    if (!fuse_columns(attempt, attempt.get(partial).block->name, where, choices)) return false;
  } catch (const schedule_error&) {
    return false;  // a reduction that cannot be done in parts
  }
  if (choices.pick(2) == 1) return false;
  s = std::move(attempt);
  return true;
}

}  // namespace tilewright::space::detail
