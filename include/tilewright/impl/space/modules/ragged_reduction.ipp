#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/space/tiles/gathered_operand.hpp>
#include <tilewright/impl/space/tiles/row_shares.hpp>
#include <tilewright/impl/space/vector_axis.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/extents.hpp>
#include <tilewright/ir/loop_notes.hpp>
#include <tilewright/ir/pattern_note.hpp>
#include <tilewright/ir/reduction_notes.hpp>
#include <tilewright/ir/sparse.hpp>
#include <tilewright/space/modules/fuse_elements.hpp>
#include <tilewright/space/modules/ragged_reduction.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/sparse/iterations.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/find.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::space {
namespace detail {

/// Combines its result with several values.
inline bool reduces(const ir::block_node& b) {
  return support::any(b.iters,
                      [](const ir::iter_var& v) { return v.kind == ir::iter_kind::reduce; });
}

/// The blocks in nests that follow each other, by name, where one of them is a reduction and one has an
/// extent from memory; none when the block holds something else.
inline std::vector<std::string> ragged_parts(const ir::block_node& around) {
  const ir::seq_node* several = ir::as_seq(around.body);
  bool ragged = false, sums = false;
  std::vector<std::string> out;
  for (ir::stmt s : several ? several->stmts : std::vector<ir::stmt>{around.body}) {
    for (; ir::as_loop(s); s = ir::as_loop(s)->body)
      ragged = ragged || ir::reads_memory(ir::as_loop(s)->extent);
    const ir::block_realize_node* inner = ir::as_realize(s);
    if (!inner) return {};
    sums = sums || reduces(*inner->block);
    out.push_back(inner->block->name);
  }
  return ragged && sums ? out : std::vector<std::string>{};
}

/// Widths of a tile of `extent` elements in vectors of `lanes`, up to what registers hold.
inline std::vector<std::int64_t> ragged_tiles(const target::cpu& cpu, dtype type,
                                              const ir::expr& extent) {
  const std::int64_t lanes = cpu.lanes(type);
  std::vector<std::int64_t> out{lanes};
  for (std::int64_t vectors = 2; vectors <= cpu.vector_registers / 2; vectors *= 2)
    if (!ir::is_int(extent) || vectors * lanes <= ir::as_int(extent) + lanes - 1)
      out.push_back(vectors * lanes);
  return out;
}

/// The iteration variable along which the block's result is contiguous. Elsewhere a result that the function
/// allocates may be laid out along what most operands are contiguous in; of rows side by side these are the
/// lanes, and each would gather its own row of the other operand.
inline std::optional<std::size_t> column_iter(const schedule& s, const ir::block_node& b) {
  const std::optional<access_profile> stored = stored_element(b);
  for (std::size_t i = b.iters.size(); stored && i-- > 0;)
    if (b.iters[i].kind == ir::iter_kind::spatial && stored->stride[i] == 1 &&
        !ir::is_int(b.iters[i].dom.extent, 1))
      return i;
  return vector_iter(s, b);
}

/// The loop that drives it, among those around the block.
inline std::optional<std::size_t> column_loop(const schedule& s, const std::string& name) {
  const ir::block_realize_node& realize = named_block(s, name);
  const std::optional<std::size_t> iter = column_iter(s, *realize.block);
  return iter ? loop_driving(s, realize, *iter) : std::nullopt;
}

/// Loops from the first one that walks data on, by what becomes of them.
struct walked_loops {
  std::vector<loop_rv> before;  // outside of the walk
  std::vector<loop_rv> walks;   // extents from memory
  std::vector<loop_rv> sums;    // along a column of a block
  std::optional<loop_rv> rows;  // of a block, or side by side
};

/// @param loops around the block
/// @param columns the one over the columns of the result, which is left out
inline walked_loops sort_loops(const schedule& s, const std::string& name,
                               const std::vector<loop_rv>& loops, std::size_t columns) {
  const ir::block_realize_node& realize = named_block(s, name);
  const auto sums = [&](std::size_t at) {
    for (std::size_t k = 0; k < realize.block->iters.size(); ++k)
      if (realize.block->iters[k].kind == ir::iter_kind::reduce &&
          loop_driving(s, realize, k) == at)
        return true;
    return false;
  };
  const auto small = [](const ir::expr& extent) {
    return ir::is_int(extent) && ir::as_int(extent) > 1 && ir::as_int(extent) <= 64;
  };
  walked_loops out;
  for (std::size_t at = 0; at < loops.size(); ++at) {
    const ir::expr extent = s.get(loops[at]).extent;
    if (at == columns) continue;
    if (ir::reads_memory(extent))
      out.walks.push_back(loops[at]);
    else if (!out.walks.empty() && ir::is_int(extent) && ir::as_int(extent) > 1 && sums(at))
      out.sums.push_back(loops[at]);
    else if (!out.walks.empty() && !out.rows && small(extent))
      out.rows = loops[at];
    else
      out.before.push_back(loops[at]);
  }
  return out;
}

/// Whether everything that the block reads fits the cache of one core.
inline bool reads_cached(const schedule& s, const std::string& name, const target::cpu& cpu) {
  std::int64_t size = 0;
  for (const ir::buffer_region& r : named_block(s, name).block->reads)
    size = std::max(size, ir::bytes_of(r.buffer));
  return size <= cpu.l2_bytes;
}

/// Whether rows that a block gathers come from farther away than the second cache for the most part: what one row of the
/// pattern spans of the operand would fill that cache twice, so that less than half of it is still there when the next
/// row reads it again. Rows near the diagonal, and an operand that fits the cache, are found there.
/// @param around the block around `inside` in the root scope
inline bool gathers_from_afar(const schedule& s, const std::string& around,
                              const std::string& inside, const ir::var& along,
                              const target::cpu& cpu) {
  const std::optional<ir::pattern_note> pattern = ir::noted_pattern(s.function());
  const std::optional<gathered_operand> operand = operand_gathered(s, around, inside, along);
  if (!pattern || pattern->mean_row <= 0 || !operand) return false;
  const double all = static_cast<double>(ir::as_int(operand->buffer->shape[0]));
  const double spanned = std::min(pattern->gap * pattern->mean_row, all);
  return spanned / all * static_cast<double>(operand->bytes) >
         2 * static_cast<double>(cpu.l2_bytes);
}

/// Sums of few vectors wait for themselves: their walk may have several accumulators, which are added up behind it,
/// as many as registers hold. Rows of a matrix are short or long; a literal number of terms is known to be worth it.
/// @param two whether registers hold two for each vector, and an operand in the cache does not keep them waiting
inline void take_sums_apart(schedule& s, const walked_loops& loops, bool two, chooser& choices) {
  constexpr std::int64_t many = 16;
  if (loops.rows || (loops.walks.empty() && loops.sums.empty())) return;  // rows have a sum each
  const loop_rv walk = loops.sums.empty() ? loops.walks.back() : loops.sums.back();
  const bool is_long = !loops.sums.empty() && ir::as_int(s.get(walk).extent) >= many;
  two = two && loops.sums.empty();
  s.annotate(walk, ir::sums_apart_note,
             choices.categorical(s, {1, 2, 4},
                                 {is_long || two ? 1 : 1.5, two ? 1.5 : 1, is_long ? 1.5 : 1}));
}

/// Whether rows end so soon that a walk written out four times over asks for its end more often than it saves: rows of 9
/// elements take 0.9 of the time in a plain loop times 32 columns, of 25 as long, of 57 1.1 times as long.
inline bool has_short_rows(const schedule& s) {
  constexpr double few = 16;  // elements
  const std::optional<ir::pattern_note> pattern = ir::noted_pattern(s.function());
  return pattern && pattern->mean_row > 0 && pattern->mean_row < few;
}

/// The place in `widths` of the first one to try: sixteen sums of a block whose rows read the same rows of the other
/// operand, which leaves the cache once for all of them, and wide tiles elsewhere.
inline std::size_t likely_width(const schedule& s, const walked_loops& loops, std::size_t widths) {
  std::size_t out = 3;  // eight vectors
  if (loops.rows && !loops.sums.empty()) {
    out = 0;
    for (std::int64_t rows = ir::as_int(s.get(*loops.rows).extent); rows < 16; rows *= 2) ++out;
  }
  return std::min(out, widths - 1);
}

/// Rows of a block whose sums stay in registers together, each as wide as a tile of `width` elements.
inline void tile_block_rows(schedule& s, walked_loops& loops, std::int64_t vectors,
                            const context& where, chooser& choices) {
  const std::int64_t extent = ir::as_int(s.get(*loops.rows).extent);
  std::vector<std::int64_t> counts;
  for (std::int64_t n = 1; n <= extent && n * vectors <= where.cpu->vector_registers - 3; ++n)
    if (extent % n == 0) counts.push_back(n);
  if (counts.empty()) counts.push_back(1);
  std::vector<double> weights(counts.size(), 1);
  weights.back() = 2;
  const auto [outer, inner] =
      s.split(*loops.rows, {infer, choices.categorical(s, counts, weights)});
  loops.before.push_back(outer);
  loops.rows = inner;
}

/// A tile of the loop on which the output is contiguous goes inside of the walk. Of a matrix in blocks
/// each element that is read is multiplied with a tile, for several rows of the block.
/// @param afar what is gathered is in memory or in the last cache, so that the first schedule asks for it ahead
/// @returns false when there is no such loop of more than one iteration
inline bool tile_columns(schedule& s, const std::string& name, bool afar, const context& where,
                         chooser& choices) {
  const std::optional<std::size_t> at = column_loop(s, name);
  if (!at) return false;
  const std::vector<loop_rv> around = s.get_loops(s.get_block(name));
  const loop_rv columns = around[*at];
  const ir::expr extent = s.get(columns).extent;
  if (ir::reads_memory(extent)) return false;
  if (ir::is_int(extent) && ir::as_int(extent) < 2) return false;
  walked_loops loops = sort_loops(s, name, around, *at);
  const dtype type = named_block(s, name).block->writes[0].buffer->type;
  const std::vector<std::int64_t> widths = ragged_tiles(*where.cpu, type, extent);
  std::vector<double> weights(widths.size(), 1);
  weights[likely_width(s, loops, widths.size())] = 1.5;
  const expr_rv width = choices.categorical(s, widths, weights);
  const auto [outer, inner] = s.split(columns, {infer, width});
  loops.before.push_back(outer);
  const std::int64_t wide = ir::as_int(s.get(inner).extent), lanes = where.cpu->lanes(type);
  const std::int64_t vectors = (wide + lanes - 1) / lanes;
  const bool two =
      reads_cached(s, name, *where.cpu) && 2 * vectors + 3 <= where.cpu->vector_registers;
  if (loops.rows) tile_block_rows(s, loops, vectors, where, choices);
  std::vector<loop_rv> order = loops.before;
  for (const auto* next : {&loops.walks, &loops.sums})
    order.insert(order.end(), next->begin(), next->end());
  if (loops.rows) order.push_back(*loops.rows);
  order.push_back(inner);
  s.reorder(order);
  s.vectorize(inner);
  if (loops.rows) s.unroll(*loops.rows);
  const loop_rv walked = loops.walks.empty() ? order[order.size() - 2] : loops.walks.back();
  s.annotate(walked, ir::prefetch_note,
             choices.categorical(s, {0, 4, 8, 16}, {afar ? 1 : 1.5, 1, 1, afar ? 1.5 : 1}));
  s.annotate(walked, ir::edge_note,
             choices.categorical(s, {0, 1}, {1, !loops.rows && has_short_rows(s) ? 1.5 : 1}));
  take_sums_apart(s, loops, two, choices);
  return true;
}

/// Which number of partial results to try first, and the least elements of a row that are worth them, as places in the
/// lists of `split_sums`.
struct likely_sums {
  std::size_t lanes = 0, least = 0;
};

/// Vectors where rows are as long as one on the average; where a few are and most are not, vectors for these alone.
inline likely_sums likely_sums_of(const schedule& s, std::int64_t lanes) {
  constexpr double worth = 4;  // vectors in the longest row
  const std::optional<ir::pattern_note> pattern = ir::noted_pattern(s.function());
  if (!pattern || pattern->mean_row <= 0) return {};
  const auto wide = static_cast<double>(lanes);
  if (pattern->mean_row >= wide) return {2, pattern->spread > 1 ? std::size_t{2} : std::size_t{0}};
  return pattern->mean_row * pattern->longest >= worth * wide ? likely_sums{2, 2} : likely_sums{};
}

/// The elements of a row add up in several partial results, where its walk is the innermost loop of
/// more than one iteration; short rows are faster one element after the other, in a loop that is not written out: one
/// that is asks twice how many elements there are.
inline void split_sums(schedule& s, const std::string& name, const context& where,
                       chooser& choices) {
  std::vector<loop_rv> loops = s.get_loops(s.get_block(name));
  const auto single = [&](loop_rv l) { return ir::is_int(s.get(l).extent, 1); };
  while (!loops.empty() && single(loops.back())) loops.pop_back();
  if (loops.empty() || !ir::reads_memory(s.get(loops.back()).extent)) return;
  const std::int64_t lanes = where.cpu->lanes(named_block(s, name).block->writes[0].buffer->type);
  const std::optional<ir::pattern_note> pattern = ir::noted_pattern(s.function());
  if (pattern && pattern->mean_row < static_cast<double>(lanes))
    s.annotate(loops.back(), ir::edge_note, 1);
  if (lanes < 4) return;
  const likely_sums likely = likely_sums_of(s, lanes);
  std::vector<double> parts(4, 1), least(3, 1);
  parts[likely.lanes] = least[likely.least] = 1.5;
  const block_rv block = s.get_block(name);
  s.annotate(block, ir::reduction_lanes_note,
             choices.categorical(s, {0, lanes / 2, lanes, 2 * lanes}, parts));
  s.annotate(block, ir::long_rows_note, choices.categorical(s, {0, lanes / 2, lanes}, least));
}

/// A drawn number of sums that lie along the loop before the last one is computed at a time, where each fills a vector.
/// @param results the loop over them
inline void add_up_together(schedule& s, const std::string& name, const std::vector<loop_rv>& loops,
                            std::size_t results, const context& where, chooser& choices) {
  const ir::expr depth = s.get(loops.back()).extent;
  const dtype type = named_block(s, name).block->writes[0].buffer->type;
  const std::int64_t lanes = where.cpu->lanes(type);
  if (results + 2 != loops.size() || bytes(type) < 4 || !ir::is_int(depth) ||
      ir::as_int(depth) < lanes)
    return;
  std::vector<std::int64_t> counts{1};
  for (const std::int64_t n : {lanes / 2, lanes})
    if (n > 1 && n * bytes(type) >= least_shuffled_bytes) counts.push_back(n);
  std::vector<double> weights(counts.size(), 1);
  if (weights.size() > 1) weights[1] = 1.5;
  if (counts.size() > 1)
    s.annotate(loops[results], ir::sums_together_note, choices.categorical(s, counts, weights));
}

/// Results that are sums of their own, along loop number `results`: vectors run along the sum, whose operands are
/// fetched ahead, a drawn number of results: what is in the cache, or has few lines, takes as long to ask for as to
/// load, and what comes from memory takes longer than a group of results. How many partial results a sum has is drawn,
/// too: many take longer to add up, few wait for each other. So is how many results are computed at a time, whose sums
/// are added up together.
inline void sum_results(schedule& s, const std::string& name, const std::vector<loop_rv>& loops,
                        std::size_t results, const context& where, chooser& choices) {
  constexpr std::int64_t few_lines = 256;  // bytes
  const ir::expr extent = s.get(loops.back()).extent;
  const dtype type = named_block(s, name).block->writes[0].buffer->type;
  const std::int64_t lanes = where.cpu->lanes(type);
  const bool at_hand = reads_cached(s, name, *where.cpu) ||
                       (ir::is_int(extent) && ir::as_int(extent) * bytes(type) < few_lines);
  s.annotate(loops[results], ir::prefetch_note,
             choices.categorical(s, {0, 4, 8, 16}, {at_hand ? 1.5 : 1, 1, 1, at_hand ? 1 : 1.5}));
  std::vector<std::int64_t> parts;
  for (const std::int64_t n : {lanes / 2, lanes, 2 * lanes})
    if (n > 1 && ir::is_int(extent) && n <= ir::as_int(extent)) parts.push_back(n);
  if (!parts.empty())
    s.annotate(s.get_block(name), ir::reduction_lanes_note,
               choices.categorical(s, parts, std::vector<double>(parts.size(), 1)));
  add_up_together(s, name, loops, results, where, choices);
}

/// The variable along which vectors of a reduction run that gathers rows of an operand: that of the tile of columns, or,
/// where each element of a row is a sum of its own, the one that is summed. Nothing where a row meets a block or several
/// rows lie side by side: each vector that is loaded serves several sums there.
inline std::optional<ir::var> gathered_along(const schedule& s, const std::string& name) {
  const ir::block_node& b = *named_block(s, name).block;
  const std::optional<std::size_t> columns = column_iter(s, b);
  if (!columns) return std::nullopt;
  const auto many = [](const ir::iter_var& v) {
    return ir::is_int(v.dom.extent) && ir::as_int(v.dom.extent) > 1;
  };
  const ir::iter_var* out = many(b.iters[*columns]) ? &b.iters[*columns] : nullptr;
  for (std::size_t i = 0; i < b.iters.size(); ++i) {
    if (i == *columns || !many(b.iters[i])) continue;
    if (out) return std::nullopt;
    out = &b.iters[i];
  }
  return out ? std::optional<ir::var>(out->var) : std::nullopt;
}

/// Each element of a row is a sum of its own, as in a sampled product.
/// @returns false when the row is what is summed
inline bool walk_results(schedule& s, const std::string& name, const context& where,
                         chooser& choices) {
  const std::vector<loop_rv> loops = s.get_loops(s.get_block(name));
  const std::optional<std::size_t> at = column_loop(s, name);
  if (!at || !ir::reads_memory(s.get(loops[*at]).extent)) return false;
  sum_results(s, name, loops, *at, where, choices);
  return true;
}

/// The elements of a row that are computed one by one are computed in vectors, the last one under a
/// mask, or one after the other, as is drawn; those inside of a block are always in vectors.
inline void vectorize_row(schedule& s, const std::string& name, const context& where,
                          chooser& choices) {
  const std::optional<std::size_t> at = column_loop(s, name);
  if (!at) return;
  const std::vector<loop_rv> loops = s.get_loops(s.get_block(name));
  const std::int64_t lanes = where.cpu->lanes(named_block(s, name).block->writes[0].buffer->type);
  const ir::expr extent = s.get(loops[*at]).extent;
  if (lanes < 2) return;
  if (ir::reads_memory(extent)) {
    if (choices.pick(2) == 0) return;
  } else if (*at + 1 != loops.size() || !ir::is_int(extent) || ir::as_int(extent) % lanes != 0) {
    return;
  }
  const auto [outer, inner] = s.split(loops[*at], {infer, lanes});
  (void)outer;
  s.vectorize(inner);
}

/// Names of the iterations that `fuse_elements` fuses; none where it doesn't.
inline std::vector<std::string> iterations_of_elements(const schedule& s) {
  if (s.function().attrs.count(ir::iterations_attribute) == 0) return {};
  const std::optional<ir::sparse_function> program = sparse::iterations_of(s.function());
  return program ? sparse::iterations_of_elements(*program) : std::vector<std::string>{};
}

/// The loops of a fused block: tasks, elements of a task, and what is summed for each.
inline void schedule_elements(schedule& s, const std::string& name, const context& where,
                              chooser& choices) {
  std::vector<loop_rv> loops = s.get_loops(s.get_block(name));
  const bool sums = reduces(*named_block(s, name).block);
  std::size_t elements = 0;
  if (where.threads > 1) {
    const expr_rv count = choices.categorical(s, {256, 1024, 4096}, {1, 1.5, 1});
    const auto [tasks, inside] = s.split(loops[0], {infer, count});
    s.parallel(tasks);
    loops[0] = inside;
    loops.insert(loops.begin(), tasks);
    elements = 1;
  }
  if (sums) {
    sum_results(s, name, loops, elements, where, choices);
  } else if (elements + 1 == loops.size()) {
    const auto type = named_block(s, name).block->writes[0].buffer->type;
    const auto [outer, inner] = s.split(loops[elements], {infer, where.cpu->lanes(type)});
    (void)outer;
    s.vectorize(inner);
  }
}

/// One nest of a row, `inner`, in the block of rows.
inline void schedule_ragged_part(schedule& s, const std::string& block, const std::string& inner,
                                 const context& where, chooser& choices) {
  const bool sums = reduces(*named_block(s, inner).block);
  bool afar = false;
  if (const std::optional<ir::var> along = sums ? gathered_along(s, inner) : std::nullopt) {
    afar = gathers_from_afar(s, block, inner, *along, *where.cpu);
    copy_gathered(s, block, inner, *along, where, choices);
  }
  if (!sums)
    vectorize_row(s, inner, where, choices);
  else if (!walk_results(s, inner, where, choices) && !tile_columns(s, inner, afar, where, choices))
    split_sums(s, inner, where, choices);
}

}  // namespace detail

TILEWRIGHT_INLINE bool is_ragged_reduction(const schedule& s, const std::string& block) {
  return !detail::ragged_parts(*named_block(s, block).block).empty();
}

TILEWRIGHT_INLINE void ragged_reduction(schedule& s, const std::string& block, const context& where,
                                        chooser& choices) {
  const std::vector<std::string> parts = detail::ragged_parts(*named_block(s, block).block);
  for (const std::string& inner : parts) {
    schedule attempt = s;
    try {
      detail::schedule_ragged_part(attempt, block, inner, where, choices);
      s = std::move(attempt);
    } catch (const schedule_error&) {  // loops whose results no one can tell apart stay in order
    }
  }
  detail::parallelize_rows(s, block, parts, where, choices);
}

TILEWRIGHT_INLINE bool has_results_of_elements(const schedule& s) {
  return !detail::iterations_of_elements(s).empty();
}

TILEWRIGHT_INLINE bool fuse_searched_elements(schedule& s) {
  const std::vector<std::string> names = detail::iterations_of_elements(s);
  if (names.empty()) return false;
  schedule attempt = s;
  try {
    for (const std::string& name : names) {
      attempt.annotate(attempt.get_block(name), ir::searched_rows_annotation, 1);
      attempt.sparse_fuse(attempt.get_block(name), {0, 1});
    }
  } catch (const schedule_error&) {
    return false;
  }
  s = std::move(attempt);
  return true;
}

TILEWRIGHT_INLINE bool fuse_elements(schedule& s, const context& where, chooser& choices) {
  const std::vector<std::string> names = detail::iterations_of_elements(s);
  if (names.empty()) return false;
  schedule attempt = s;
  try {
    for (const std::string& name : names) attempt.sparse_fuse(attempt.get_block(name), {0, 1});
    for (const std::string& name : names) detail::schedule_elements(attempt, name, where, choices);
  } catch (const schedule_error&) {
    return false;
  }
  s = std::move(attempt);
  return true;
}

}  // namespace tilewright::space
