// Results that are defined part by part, as the three coordinates of points or both halves of a butterfly: one pass over the points
// computes all parts. Of matrices side by side in a wider one it computes a row of each in turn.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/space/vector_axis.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/schedule/primitive/query.hpp>
#include <tilewright/space/chooser.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/space/space.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/find.hpp>
#include <tilewright/support/function_ref.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::space::detail {

/// The extents of the loops around a block that stores one value in each iteration of plain loops; empty where it is another one.
inline std::vector<std::int64_t> extents_of_values(schedule& s, const std::string& name) {
  const ir::block_node& b = *named_block(s, name).block;
  if (b.init || b.writes.size() != 1 || !ir::as_store(b.body)) return {};
  std::vector<std::int64_t> out;
  for (const loop_rv l : s.get_loops(s.get_block(name))) {
    const ir::loop_node& loop = s.get(l);
    if (!plain(loop) || !ir::is_int(loop.extent)) return {};
    out.push_back(loop.extent->integer);
  }
  return out.size() == b.iters.size() ? out : std::vector<std::int64_t>{};
}

/// Blocks of the root scope one after the other, two of which at least write parts of one buffer: with loops of equal extents, or,
/// rows of several lengths beside each other, of extents that are equal but for the innermost ones.
using definition_parts = std::vector<std::string>;

inline bool define_parts(const schedule& s, const definition_parts& blocks) {
  std::map<const ir::buffer_node*, int> definitions;
  for (const std::string& name : blocks)
    if (++definitions[named_block(s, name).block->writes[0].buffer.get()] == 2) return true;
  return false;
}

/// Runs of blocks in the order of the program whose loops nothing has decided, each of which `goes_on` says of the one before.
/// @param goes_on of the names of two blocks and the extents of their loops
template <class Extents, class GoesOn>
std::vector<definition_parts> runs_of_values(schedule& s, const Extents& extents_of,
                                             const GoesOn& goes_on) {
  std::vector<definition_parts> out;
  std::vector<std::int64_t> before;
  for (const std::string& name : root_block_names(s)) {
    std::vector<std::int64_t> own = extents_of(name);
    if (!own.empty()) {
      if (before.empty() || !goes_on(out.back().back(), before, name, own)) out.emplace_back();
      out.back().push_back(name);
    }
    before = std::move(own);
  }
  return out;
}

/// All definitions in parts, of those blocks whose loops nothing has decided: rows first, which may have parts of equal lengths among
/// them, too.
inline std::vector<definition_parts> definitions_in_parts(
    schedule s, support::function_ref<bool(const std::string&)> is_free) {
  using extents = std::vector<std::int64_t>;
  std::vector<definition_parts> out;
  const auto free_extents = [&](const std::string& name) {
    return is_free(name) ? extents_of_values(s, name) : extents{};
  };
  const auto target = [&](const std::string& name) {
    return named_block(s, name).block->writes[0].buffer;
  };
  const auto is_beside = [&](const std::string& one, const extents& x, const std::string& other,
                             const extents& y) {
    return x.size() > 1 && x.size() == y.size() && target(one) == target(other) &&
           std::equal(x.begin(), x.end() - 1, y.begin());
  };
  const auto are_equal = [&](const std::string&, const extents& x, const std::string&,
                             const extents& y) { return x == y; };
  for (definition_parts& run : runs_of_values(s, free_extents, is_beside)) {
    const std::int64_t first = free_extents(run[0]).back();
    if (support::any(run, [&](const auto& name) { return free_extents(name).back() != first; }))
      out.push_back(std::move(run));
  }
  const auto left_extents = [&](const std::string& name) {
    const bool taken =
        support::any(out, [&](const auto& run) { return support::contains(run, name); });
    return taken ? extents{} : free_extents(name);
  };
  for (definition_parts& run : runs_of_values(s, left_extents, are_equal))
    if (define_parts(s, run)) out.push_back(std::move(run));
  return out;
}

/// ```
/// for n: R[n, 0] = ..          for n_0:
/// for n: R[n, 1] = ..    ->      for lanes (vectorized): R[.., 0] = ..
/// for n: R[n, 2] = ..            for lanes (vectorized): R[.., 1] = ..
///                                for lanes (vectorized): R[.., 2] = ..
///
/// for i: for j: Y[i, j] = ..              for i: for j_0, lanes (vectorized): Y[i, ..] = ..
/// for i: for k: Y[i, k + 37] = ..  ->            for k_0, lanes (vectorized): Y[i, .. + 37] = ..
/// ```
/// A structural choice, the first one: what parts share is loaded and computed once, and parts that lie side by side are stored in whole
/// vectors (pass/vector/joined_channels.hpp). 20,000 points turned by quaternions, three definitions, take 31 us apart. Rows are written
/// once each, from their beginning to their end.
/// @returns whether the blocks are one pass now
inline bool merge_parts_of_results(schedule& s, const definition_parts& blocks,
                                   const context& where, chooser& choices) {
  schedule attempt = s;
  int widest = 1;  // bytes
  for (const std::string& name : blocks)
    widest = std::max(widest, bytes(named_block(s, name).block->writes[0].buffer->type));
  // narrow elements are mostly computed in wider integers, and whole vectors of them are shuffled together
  const std::int64_t lanes = where.cpu->lanes(widest == 8 ? dtype::f64 : dtype::f32);
  const std::vector<double> weights =
      widest > 2 ? std::vector<double>{1.5, 1, 1} : std::vector<double>{1, 1, 1.5};
  std::vector<loop_rv> points, rows, vectors;
  std::vector<std::int64_t> lengths;
  try {
    for (const std::string& name : blocks) {
      const std::vector<loop_rv> loops = attempt.get_loops(attempt.get_block(name));
      lengths.push_back(ir::as_int(attempt.get(loops.back()).extent));
      if (loops.size() > 1) rows.push_back(loops[loops.size() - 2]);
    }
    const auto [shortest, longest] = std::minmax_element(lengths.begin(), lengths.end());
    const bool of_rows = *shortest < *longest;
    if (*longest < lanes || choices.pick(2) == 1) return false;
    const expr_rv width = choices.categorical(attempt, {lanes, 2 * lanes, 4 * lanes}, weights);
    for (const std::string& name : blocks) {
      const loop_rv along = attempt.get_loops(attempt.get_block(name)).back();
      const auto [outer, inner] = attempt.split(along, {infer, width});
      points.push_back(outer);
      vectors.push_back(inner);
    }
    attempt.merge(of_rows ? rows : points);
    for (const loop_rv l : vectors) attempt.vectorize(l);
  } catch (const schedule_error&) {
    return false;
  }
  s = std::move(attempt);
  return true;
}

}  // namespace tilewright::space::detail
