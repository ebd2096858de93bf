// How threads share out the rows of a sparse matrix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/space/vector_axis.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/pattern_note.hpp>
#include <tilewright/ir/sparse.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/space/chooser.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/space/space.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/find.hpp>

namespace tilewright::space::detail {

/// Offsets whose differences are the extents of loops below that of `rows` iterations; "" where there are none.
inline std::string offsets_below(const ir::block_node& around, const ir::expr& rows) {
  std::string out;
  if (!ir::is_int(rows)) return out;
  ir::for_each_stmt(around.body, [&](const ir::stmt& s) {
    const ir::loop_node* loop = ir::as_loop(s);
    if (!loop || !out.empty()) return;
    ir::for_each_expr(loop->extent, [&](const ir::expr& e) {
      if (e->op == ir::op::load && e->buffer->shape.size() == 1 &&
          ir::is_int(e->buffer->shape[0], ir::as_int(rows) + 1))
        out = e->buffer->name;
    });
  });
  return out;
}

/// Whether a row has more elements than a chunk, so that sharing out whole rows is uneven.
inline bool has_long_rows(const schedule& s, const ir::expr& rows, int threads) {
  constexpr int chunks = 4;  // of a thread
  const std::optional<ir::pattern_note> pattern = ir::noted_pattern(s.function());
  return pattern && ir::is_int(rows) &&
         pattern->longest * chunks * threads > static_cast<double>(ir::as_int(rows));
}

/// Whether each row of the pattern is summed, alone or beside columns, to a row of the result: such a row may be
/// divided (pass/rows/divide_rows.hpp).
inline bool sums_rows(const schedule& s, const std::string& around,
                      const std::vector<std::string>& parts) {
  const ir::block_node& rows = *named_block(s, around).block;
  if (parts.size() != 1 || rows.iters.size() != 1) return false;
  const ir::block_node& inner = *named_block(s, parts[0]).block;
  for (const ir::range& r : inner.writes[0].box)
    if (ir::uses_var(r.min, rows.iters[0].var) && ir::free_vars(r.min).size() > 1) return false;
  return support::any(inner.iters, [](const ir::iter_var& v) {
    return v.kind == ir::iter_kind::reduce && ir::reads_memory(v.dom.extent);
  });
}

/// How threads share rows out: a number of them at a time, by elements at the ends of rows, or by tasks that end anywhere.
enum class row_shares : std::uint8_t { counted, balanced, divided };

/// The ways there are, the likeliest one first.
inline std::vector<row_shares> ways_to_share(const schedule& s, const std::string& name,
                                             const std::vector<std::string>& parts,
                                             const std::string& offsets, const ir::expr& rows,
                                             int threads) {
  if (offsets.empty()) return {row_shares::counted};
  if (has_long_rows(s, rows, threads) && sums_rows(s, name, parts))
    return {row_shares::divided, row_shares::counted, row_shares::balanced};
  return {row_shares::counted, row_shares::balanced};
}

/// Threads share the rows out in one of those ways.
inline void share_rows(schedule& s, const loop_rv& rows, row_shares way, const std::string& offsets,
                       int threads, chooser& choices) {
  if (way == row_shares::counted) {
    const expr_rv count = choices.categorical(s, {8, 32, 128, 512}, {1, 1.5, 1, 1});
    const auto [tasks, inside] = s.split(rows, {infer, count});
    return s.parallel(tasks);
  }
  s.parallel(rows);
  s.annotate(rows, ir::balance_annotation, offsets);
  if (way == row_shares::divided)
    s.annotate(rows, ir::tasks_annotation,
               choices.categorical(s, {4 * threads, 16 * threads, threads}, {1.5, 1, 1}));
}

/// The only row of a matrix is divided, where there is a part worth a thread's time, or may be.
inline void share_only_row(schedule& s, const std::string& name,
                           const std::vector<std::string>& parts, int threads, chooser& choices) {
  constexpr double worth_a_thread = 2048;  // elements
  const std::vector<loop_rv> loops = s.get_loops(s.get_block(name));
  if (loops.empty() || !sums_rows(s, name, parts)) return;
  const std::string offsets =
      offsets_below(*named_block(s, name).block, s.get(loops.back()).extent);
  if (offsets.empty()) return;
  const std::optional<ir::pattern_note> pattern = ir::noted_pattern(s.function());
  const bool is_long = !pattern || pattern->mean_row >= worth_a_thread * threads;
  s.parallel(loops.back());
  s.annotate(loops.back(), ir::balance_annotation, offsets);
  s.annotate(
      loops.back(), ir::tasks_annotation,
      choices.categorical(s, {threads, 4 * threads, 1}, {is_long ? 1.5 : 1, 1, is_long ? 1 : 1.5}));
}

/// Rows run in parallel, unless results that are stored row after row cannot be told apart, as where the
/// pattern has one element.
/// @param name of the block of rows
/// @param parts names of the blocks in it
inline void parallelize_rows(schedule& s, const std::string& name,
                             const std::vector<std::string>& parts, const context& where,
                             chooser& choices) {
  if (where.threads < 2) return;
  const std::vector<loop_rv> loops = s.get_loops(s.get_block(name));
  const auto over_rows =
      support::find(loops, [&](loop_rv l) { return !ir::is_int(s.get(l).extent, 1); });
  if (over_rows == loops.end()) return share_only_row(s, name, parts, where.threads, choices);
  if (!plain(s.get(*over_rows))) return;
  const ir::expr count = s.get(*over_rows).extent;
  const std::string offsets = offsets_below(*named_block(s, name).block, count);
  const std::vector<row_shares> ways = ways_to_share(s, name, parts, offsets, count, where.threads);
  schedule attempt = s;
  try {
    const row_shares way = ways.size() > 1 ? ways[choices.pick(ways.size())] : ways[0];
    share_rows(attempt, *over_rows, way, offsets, where.threads, choices);
    s = std::move(attempt);
  } catch (const schedule_error&) {
  }
}

}  // namespace tilewright::space::detail
