#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/impl/space/chains/moved_chain.hpp>
#include <tilewright/impl/space/chains/short_axis.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/path.hpp>
#include <tilewright/schedule/primitive/query.hpp>
#include <tilewright/schedule/sampling.hpp>
#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/modules/fuse_rows.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/numbers/checked.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::space {
namespace detail {

/// Each block of the chain at one of the places where compute_at accepts it and nothing is computed
/// again; where it is comes first.
inline void choose_places(schedule& s, const std::vector<std::string>& chain, chooser& choices) {
  for (const std::string& name : chain) {
    std::vector<schedule> moved;
    for (const primitive::compute_location& place :
         primitive::compute_locations(s.function(), named_block(s, name).block->id)) {
      if (!place.loop) continue;
      schedule attempt = s;
      const block_rv consumer = attempt.get_block(consumer_names(s, name).front());
      // in this order by every compiler, so that all of them write one trace
      const loop_rv at = attempt.get_loops(consumer)[static_cast<std::size_t>(place.index)];
      attempt.compute_at(attempt.get_block(name), at, true);
      if (!repeats_itself(attempt, name)) moved.push_back(std::move(attempt));
    }
    if (const std::size_t choice = choices.pick(moved.size() + 1)) s = std::move(moved[choice - 1]);
  }
}

/// Makes strips of the loop along which the output is contiguous, the inside of a strip innermost:
/// `for i, j` -> `for i_0, j, i_1`. Nothing when that loop is innermost already; else the position
/// of the strips' loop. `outermost` asks for the opposite: where that loop is innermost, its strips
/// go around all others, `for i, j` -> `for j_0, i, j_1`; nothing where a vector holds all of it. Four vectors first: l2 norms of 355 columns take 10.9 us
/// in strips of two, 8.7 us in strips of four.
inline std::optional<std::size_t> make_strips(schedule& s, const std::string& output,
                                              const context& where, chooser& choices,
                                              bool outermost = false) {
  const std::optional<block_profile> p = profile(s, output);
  const std::optional<std::size_t> along = p ? p->contiguous() : std::nullopt;
  if (!along || (*along + 1 == p->kind.size()) != outermost) return std::nullopt;
  const int lanes = where.cpu->lanes(p->write.buffer->type);
  if (outermost && p->extent[*along] <= lanes) return std::nullopt;
  const std::vector<loop_rv> loops = s.get_loops(s.get_block(output));
  const expr_rv width = choices.categorical(s, {lanes, 2 * lanes, 4 * lanes}, {1, 1, 1.5});
  const auto [strip, inside] = s.split(loops[*along], {infer, width});
  std::vector<loop_rv> order{strip};
  if (outermost)
    order.insert(order.end(), loops.begin(), loops.end() - 1);
  else
    order.insert(order.end(), loops.begin() + static_cast<std::ptrdiff_t>(*along) + 1, loops.end());
  order.push_back(inside);
  s.reorder(order);
  return outermost ? 0 : along;
}

/// Whether strips of rows of the output meet in few sets of the first-level cache, since rows lie pages apart, and are more than these hold:
/// columns of 192 x 1,024 numbers that are normalized take 60 us in strips and 22 us in nests of their own.
inline bool shares_sets(const schedule& s, const std::string& output, const context& where) {
  constexpr std::int64_t page = 4096;
  const std::optional<block_profile> p = profile(s, output);
  if (!p) return false;
  for (std::size_t i = 0; i < p->kind.size(); ++i) {
    const std::int64_t step = p->write.stride[i] * bytes(p->write.buffer->type);
    if (step > 0 && step % page == 0 && p->extent[i] > where.cpu->l1_bytes / page) return true;
  }
  return false;
}

/// Several rows at a time: what their reductions wait for then overlaps. False where there are too
/// few rows or a block does not go along.
inline bool group_rows(schedule& s, const std::vector<std::string>& chain,
                       const std::string& output, std::size_t depth, chooser& choices,
                       const std::vector<std::int64_t>& sizes = {2, 4, 8}) {
  schedule attempt = s;
  const loop_rv rows = attempt.get_loops(attempt.get_block(output))[depth];
  const ir::expr extent = attempt.get(rows).extent;
  if (ir::is_int(extent) && ir::as_int(extent) < 8) return false;
  std::vector<double> weights(sizes.size(), 1);
  weights[sizes.size() / 2] = 1.5;
  const expr_rv group = choices.categorical(attempt, sizes, weights);
  attempt.split(rows, {infer, group});
  if (!move_all(attempt, chain, output, depth)) return false;
  s = std::move(attempt);
  return true;
}

/// Whether a group of rows stays in the first-level cache from its reductions to its last element, and there are
/// groups for all threads: what one row waits for, as a root and a quotient, is then hidden behind others.
inline bool suits_groups(const schedule& s, const std::string& output, std::size_t depth,
                         const context& where) {
  constexpr std::int64_t group = 4, least_groups = 4;
  const std::optional<block_profile> p = profile(s, output);
  if (!p || depth >= p->kind.size() || p->extent[depth] < least_groups * group * where.threads)
    return false;
  std::int64_t elements = group;
  for (std::size_t i = depth + 1; i < p->extent.size(); ++i)
    elements = support::saturated_product(elements, p->extent[i]);
  std::int64_t size = bytes(p->write.buffer->type);  // of an element of all that has one there
  for (const access_profile& read : p->reads)
    if (std::any_of(read.stride.begin() + static_cast<std::ptrdiff_t>(depth) + 1, read.stride.end(),
                    [](std::int64_t step) { return step != 0; }))
      size += bytes(read.buffer->type);
  return support::saturated_product(elements, size) <= where.cpu->l1_bytes;
}

/// A consumer reads several elements of what the block computes.
inline bool is_read_in_windows(const schedule& s, const std::string& name) {
  const ir::block_node& b = *named_block(s, name).block;
  for (const std::string& reader : consumer_names(s, name)) {
    std::vector<ir::expr> places;
    ir::for_each_expr(named_block(s, reader).block->body, [&](const ir::expr& e) {
      if (e->op != ir::op::load || b.writes.empty() || e->buffer != b.writes[0].buffer) return;
      const auto equals = [&](const ir::expr& other) { return ir::equal(e, other); };
      if (support::none(places, equals)) places.push_back(e);
    });
    if (places.size() > 2) return true;
  }
  return false;
}

inline bool is_sum(const schedule& s, const std::string& name) {
  return static_cast<bool>(named_block(s, name).block->init);
}

/// Whether the output is one long vector behind others that would be written to memory and read from there: sums, as
/// those of windows, none of which is an output itself, or outputs that are no sums.
inline bool ends_chain_of_vectors(const schedule& s, const std::string& output,
                                  const std::vector<std::string>& chain) {
  constexpr std::int64_t beyond_a_cache = 8192;  // elements
  const std::optional<block_profile> p = profile(s, output);
  const auto sum = [&](const std::string& name) { return is_sum(s, name); };
  const auto result = [&](const std::string& name) { return is_output(s, name); };
  return p && !p->reduction && p->kind.size() == 1 && p->contiguous() &&
         p->extent[0] >= beyond_a_cache && support::any(chain, sum) != support::any(chain, result);
}

/// What needs the block, directly or not, in the order of the program.
inline std::vector<std::string> chain_below(const schedule& s, const std::string& block) {
  std::vector<std::string> out{block};
  for (const std::string& name : root_block_names(s))
    if (name != block && support::any(producer_names(s, name), [&](const std::string& p) {
          return support::contains(out, p);
        }))
      out.push_back(name);
  out.erase(out.begin());
  return out;
}

/// A part of the vector at a time, with the sums before it and what needs it, so that all of the part is in the
/// first-level cache: mean and variance of windows are one pass instead of four.
inline void group_elements(schedule& s, const std::vector<std::string>& chain,
                           const std::string& output, chooser& choices) {
  schedule attempt = s;
  if (!group_rows(attempt, chain, output, 0, choices, {256, 1024, 4096})) return;
  const loop_rv part = attempt.get_loops(attempt.get_block(output))[0];
  for (const std::string& name : chain_below(attempt, output)) {
    schedule moved = attempt;
    try {
      moved.reverse_compute_at(moved.get_block(name), part, true);
    } catch (const schedule_error&) {
      break;
    }
    if (repeats_itself(moved, name)) break;
    attempt = std::move(moved);
  }
  s = std::move(attempt);
}

/// A part of the vector at a time, with the same part of the results that it needs, so that these are in the first-level
/// cache: `for n: A; for n: B` -> `for n_0: for n_1: A; for n_1: B`. Nothing where they have other extents. A step of an
/// optimizer that writes two moments and the weights of 65,536 numbers takes 23 us apart.
inline void merge_parts(schedule& s, const std::vector<std::string>& chain,
                        const std::string& output, chooser& choices) {
  schedule attempt = s;
  const expr_rv part = choices.categorical(attempt, {256, 1024, 4096}, {1, 1.5, 1});
  std::vector<std::string> vectors(chain.rbegin(), chain.rend());
  vectors.push_back(output);
  try {
    std::vector<loop_rv> parts;
    for (const std::string& name : vectors) {
      const loop_rv whole = attempt.get_loops(attempt.get_block(name))[0];
      parts.push_back(attempt.split(whole, {infer, part})[0]);
    }
    attempt.merge(parts);
  } catch (const schedule_error&) {
    return;
  }
  s = std::move(attempt);
}

}  // namespace detail

TILEWRIGHT_INLINE void fuse_rows(schedule& s, const std::string& output, const context& where,
                                 chooser& choices) {
  const std::vector<std::string> chain = detail::chain_above(s, output);
  const std::size_t loops = loop_count(s, output);
  if (detail::ends_chain_of_vectors(s, output, chain)) {
    if (choices.pick(2) == 1) return;
    const auto sum = [&](const std::string& name) { return detail::is_sum(s, name); };
    return support::any(chain, sum) ? detail::group_elements(s, chain, output, choices)
                                    : detail::merge_parts(s, chain, output, choices);
  }
  if (chain.empty() || loops < 2) return;
  if (detail::walk_points(s, chain, output, where, choices)) return;
  if (support::any(chain,
                   [&](const std::string& name) { return detail::is_read_in_windows(s, name); })) {
    // below single rows, most of the rows before would be computed again
    if (choices.pick(2) == 0) detail::group_rows(s, chain, output, 0, choices, {16, 32, 64, 128});
    return;
  }
  if (choices.pick(2) == 1) return detail::choose_places(s, chain, choices);
  const std::optional<std::size_t> strips = detail::make_strips(s, output, where, choices);
  for (std::size_t depth = strips ? *strips + 1 : loops - 1; depth-- > 0;) {
    const schedule apart = s;
    if (!detail::move_all(s, chain, output, depth)) continue;
    const bool first = !strips && detail::suits_groups(apart, output, depth, where);
    if (schedule grouped = apart; !strips && (choices.pick(2) == 0) == first)
      if (detail::group_rows(grouped, chain, output, depth, choices)) s = std::move(grouped);
    return;
  }
  if ((choices.pick(2) == 1) != detail::shares_sets(s, output, where)) return;
  schedule columns = s;
  if (detail::make_strips(columns, output, where, choices, true) &&
      detail::move_all(columns, chain, output, 0))
    s = std::move(columns);
}

}  // namespace tilewright::space
