// Results that are defined part by part, as the three coordinates of points or both halves of a butterfly: one pass over the points
// computes all parts.
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
#include <tilewright/support/error.hpp>
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

/// Blocks of the root scope one after the other, with loops of equal extents, two of which at least write parts of one buffer.
using definition_parts = std::vector<std::string>;

inline bool define_parts(const schedule& s, const definition_parts& blocks) {
  std::map<const ir::buffer_node*, int> definitions;
  for (const std::string& name : blocks)
    if (++definitions[named_block(s, name).block->writes[0].buffer.get()] == 2) return true;
  return false;
}

/// All of them in the order of the program, of those blocks whose loops nothing has decided.
inline std::vector<definition_parts> definitions_in_parts(
    schedule s, support::function_ref<bool(const std::string&)> is_free) {
  std::vector<definition_parts> out;
  definition_parts run;
  std::vector<std::int64_t> extents;
  const auto close = [&] {
    if (define_parts(s, run)) out.push_back(run);
    run.clear();
  };
  for (const std::string& name : root_block_names(s)) {
    std::vector<std::int64_t> own =
        is_free(name) ? extents_of_values(s, name) : std::vector<std::int64_t>{};
    if (own.empty() || own != extents) close();
    if (!own.empty()) run.push_back(name);
    extents = std::move(own);
  }
  close();
  return out;
}

/// ```
/// for n: R[n, 0] = ..          for n_0:
/// for n: R[n, 1] = ..    ->      for lanes (vectorized): R[.., 0] = ..
/// for n: R[n, 2] = ..            for lanes (vectorized): R[.., 1] = ..
///                                for lanes (vectorized): R[.., 2] = ..
/// ```
/// A structural choice, the first one: what parts share is loaded and computed once, and parts that lie side by side are stored in whole
/// vectors (pass/vector/joined_channels.hpp). 20,000 points turned by quaternions, three definitions, take 31 us apart.
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
  std::vector<loop_rv> points, vectors;
  try {
    const std::vector<loop_rv> first = attempt.get_loops(attempt.get_block(blocks[0]));
    if (ir::as_int(attempt.get(first.back()).extent) < lanes || choices.pick(2) == 1) return false;
    const expr_rv width = choices.categorical(attempt, {lanes, 2 * lanes, 4 * lanes}, weights);
    for (const std::string& name : blocks) {
      const loop_rv along = attempt.get_loops(attempt.get_block(name)).back();
      const auto [outer, inner] = attempt.split(along, {infer, width});
      points.push_back(outer);
      vectors.push_back(inner);
    }
    attempt.merge(points);
    for (const loop_rv l : vectors) attempt.vectorize(l);
  } catch (const schedule_error&) {
    return false;
  }
  s = std::move(attempt);
  return true;
}

}  // namespace tilewright::space::detail
