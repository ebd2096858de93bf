#pragma once

#include <algorithm>
#include <optional>

#include <tilewright/impl/space/lanes/row_streams.hpp>
#include <tilewright/impl/space/outer_parallel.hpp>
#include <tilewright/impl/space/tiles/short_columns.hpp>
#include <tilewright/impl/space/tiles/tile_conditions.hpp>
#include <tilewright/impl/space/vector_axis.hpp>
#include <tilewright/ir/analysis/short_table.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/extents.hpp>
#include <tilewright/ir/loop_notes.hpp>
#include <tilewright/ir/reduction_notes.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/primitive/query.hpp>
#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/modules/parallel_vectorize.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/find.hpp>
#include <tilewright/support/numbers/checked.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::space {
namespace detail {

/// The loads of a reduction without the loads of its accumulators, and without elements of short tables, which are looked up in registers.
inline std::vector<access_profile> operand_loads(const ir::block_node& b) {
  std::vector<access_profile> out;
  const auto written = [&](const ir::buffer& x) {
    return support::any(b.writes, [&](const ir::buffer_region& w) { return w.buffer == x; });
  };
  ir::for_each_expr(b.body, [&](const ir::expr& e) {
    if (e->op == ir::op::load && !written(e->buffer) && !ir::reads_short_table(e))
      out.push_back(profile_access(b, e->buffer, e->args));
  });
  return out;
}

/// Whether vectors of a sum go along its terms, since vectors of terms load cheaper than vectors of results: the terms of dot products
/// lie side by side. Where a few elements lie between two terms, as between pairs, the vectors of long sums are a choice.
inline bool goes_along_terms(const ir::block_node& b, std::size_t results, std::int64_t lanes,
                             chooser& choices) {
  if (!b.init) return false;
  const std::vector<access_profile> loads = operand_loads(b);
  const auto values = [&](std::size_t i) {
    const ir::expr& extent = b.iters[i].dom.extent;
    return ir::is_int(extent) ? extent->integer : std::int64_t{0};
  };
  const auto cost = [&](std::size_t i) { return vector_load_cost(loads, i, values(i), lanes); };
  bool near = false;
  for (std::size_t i = 0; i < b.iters.size(); ++i) {
    if (b.iters[i].kind != ir::iter_kind::reduce || cost(i) >= cost(results)) continue;
    if (support::all(loads, [&](const auto& a) { return loads_vectors(a, i); })) return true;
    near = i + 1 == b.iters.size() && values(i) >= lanes &&
           support::all(loads, [&](const auto& a) { return loads_spread(a, i); });
  }
  return near && choices.pick(2) == 0;
}

/// How many sums along memory are computed at a time, and how likely each number is.
struct sum_counts {
  std::vector<std::int64_t> counts;
  std::vector<double> weights;
};

/// Empty where the sums share no operand and their windows do not overlap, or something else keeps them apart.
/// @param results, summed the last variable of each kind
inline sum_counts counts_together(const block_profile& p, std::size_t results, std::size_t summed,
                                  std::int64_t lanes) {
  const dtype type = p.write.buffer->type;
  const auto overlaps = [&](const access_profile& r) {
    return r.stride[summed] == 1 && r.stride[results] < p.extent[summed];
  };
  const auto is_shared = [&](const access_profile& r) {
    return r.stride[results] == 0 && r.stride[summed] != 0;
  };
  const bool windows = support::all(p.reads, overlaps);
  if (p.write.stride[results] != 1 || p.extent[summed] < lanes || bytes(type) < 4 ||
      !support::all(p.reads, [&](const auto& r) { return loads_spread(r, summed); }) ||
      (!windows && support::none(p.reads, is_shared)))
    return {};
  sum_counts out;
  for (const std::int64_t n : {lanes, lanes / 2, lanes / 4})
    if (n > 1 && n <= p.extent[results] && n * bytes(type) >= least_shuffled_bytes &&
        (!windows || n >= lanes / 2))
      out.counts.push_back(n);
  if (out.counts.empty()) return {};
  out.counts.push_back(1);
  out.weights.assign(out.counts.size(), 1);
  // one sum at a time reads one row of a matrix, as hardware expects it, if what is shared costs no shuffles
  const auto shuffled = [&](const access_profile& r) {
    return is_shared(r) && r.stride[summed] > 1;
  };
  (windows                           ? out.weights.front()
   : support::any(p.reads, shuffled) ? out.weights[out.counts.size() / 2 - 1]
                                     : out.weights.back()) = 2;
  return out;
}

/// Has several sums along the last loop computed at a time, in vectors along the sum, and added up together
/// (pass/vector/sums_together.hpp); their number is drawn. Such sums share an operand, or their windows overlap, as the
/// windows of a filter that keeps every eighth result.
inline void sum_together(schedule& s, const std::string& name, const context& where,
                         chooser& choices) {
  constexpr std::int64_t task = 1024;  // sums of one thread at a time
  const std::optional<block_profile> p = profile(s, name);
  if (!p || !p->reduction) return;
  const auto reduces = [](ir::iter_kind k) { return k == ir::iter_kind::reduce; };
  const auto reduced = support::find(p->kind, reduces);
  const auto spatial = static_cast<std::size_t>(reduced - p->kind.begin());
  if (spatial == 0 || spatial == p->kind.size() || !std::all_of(reduced, p->kind.end(), reduces))
    return;
  const std::size_t results = spatial - 1;
  const sum_counts drawn =
      counts_together(*p, results, p->kind.size() - 1, where.cpu->lanes(p->write.buffer->type));
  if (drawn.counts.empty()) return;
  loop_rv loop = s.get_loops(s.get_block(name))[results];
  if (where.threads > 1 && results == 0) loop = s.split(loop, {infer, task})[1];
  s.annotate(loop, ir::sums_together_note, choices.categorical(s, drawn.counts, drawn.weights));
}

/// Makes squares of a transposition, so that rows are loaded and transposed in registers: the loop over `lanes`, across the rows that
/// are read, goes innermost, below a few steps of loop `along`, which are written out. The few steps are all steps where the loop has
/// no more than `few`.
inline void order_squares(schedule& s, std::vector<loop_rv> loops, std::size_t along, loop_rv lanes,
                          chooser& choices, std::int64_t few = 4) {
  const ir::expr extent = s.get(loops[along]).extent;
  loop_rv step = loops[along];
  if (ir::is_int(extent) && extent->integer <= few) {
    loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(along));
  } else {
    const expr_rv steps = choices.categorical(s, {4, 8, 16}, {1, 1, 1.5});
    const auto [rest, some] = s.split(loops[along], {infer, steps});
    loops[along] = rest;
    step = some;
  }
  loops.push_back(step);
  loops.push_back(lanes);
  s.reorder(loops);
  s.unroll(step);
}

/// The loop along the rows of a block's result, where the indices in a row are remainders, as those of channels in groups.
struct row_loop {
  std::size_t at;
  std::int64_t extent;  // elements of a row
};

/// Nothing where elements are wider than two bytes: wider ones are transposed when they are loaded.
inline std::optional<row_loop> row_loop_of(const schedule& s,
                                           const ir::block_realize_node& realize) {
  const ir::block_node& b = *realize.block;
  const ir::store_node* store = ir::as_store(b.body);
  if (!store || b.init || store->indices.empty() || bytes(store->buffer->type) > 2)
    return std::nullopt;
  const ir::expr& last = store->indices.back();
  if (last->op != ir::op::floormod || !ir::is_int(last->args[1])) return std::nullopt;
  const std::int64_t extent = last->args[1]->integer;
  for (std::size_t i = 0; i < b.iters.size(); ++i) {
    const ir::expr& whole = b.iters[i].dom.extent;
    if (!last->args[0].same(b.iters[i].var) || !ir::is_int(whole) || whole->integer % extent != 0)
      continue;
    if (const std::optional<std::size_t> at = loop_driving(s, realize, i))
      return row_loop{*at, extent};
  }
  return std::nullopt;
}

/// The loop along the rows goes right around the loop over lanes across the rows, so that squares are transposed in registers and
/// stored by rows.
inline void order_rows(schedule& s, std::vector<loop_rv> order, std::size_t along,
                       std::int64_t extent, loop_rv lanes) {
  const auto [groups, row] = s.split(order[along], {infer, extent});
  order[along] = groups;
  order.push_back(row);
  order.push_back(lanes);
  s.reorder(order);
}

/// Channels that are computed each in a way of its own are written out up to so many.
inline constexpr std::int64_t most_kinds = 8;

/// Whether the block chooses by the channel what it computes: lanes along channels would compute all of it for each.
inline bool chooses_by(const ir::block_node& b, const ir::var& channel) {
  bool out = false;
  ir::for_each_expr(b.body, [&](const ir::expr& e) {
    out = out || (e->op == ir::op::select && ir::uses_var(e->args[0], channel));
  });
  return out;
}

/// The variable along the pixels of a block whose results are a few channels of each pixel, side by side, as the colours of an image:
/// vectors along the pixels are shuffled together when they are stored, and vectors along the channels would fill few lanes.
inline std::optional<std::size_t> pixel_iter(const ir::block_node& b, std::size_t channel) {
  constexpr std::int64_t most_channels = 4, least_pixels = 8;
  const auto extent = [&](std::size_t i) {
    const ir::expr& e = b.iters[i].dom.extent;
    return ir::is_int(e) ? e->integer : std::int64_t{-1};
  };
  const std::optional<access_profile> stored = stored_element(b);
  const std::int64_t channels = extent(channel);
  if (b.init || !ir::as_store(b.body) || !stored || !stored->affine || channels < 2 ||
      channels > (chooses_by(b, b.iters[channel].var) ? most_kinds : most_channels))
    return std::nullopt;
  for (std::size_t i = 0; i < b.iters.size(); ++i)
    if (i != channel && b.iters[i].kind == ir::iter_kind::spatial &&
        stored->stride[i] == channels && extent(i) >= least_pixels)
      return i;
  return std::nullopt;
}

/// Vectors go along the loop over pixels, right below the loop over all their channels, which is written out.
/// @returns whether the block has two such loops
inline bool order_pixels(schedule& s, const ir::block_node& b, const std::vector<loop_rv>& loops,
                         std::size_t channel, std::size_t pixel, const context& where,
                         chooser& choices) {
  const ir::loop_node &channels = s.get(loops[channel]), &pixels = s.get(loops[pixel]);
  const std::optional<access_profile> stored = stored_element(b);
  const bool all_channels =
      ir::is_int(channels.extent) &&
      support::any(stored->stride, [&](std::int64_t n) { return n == channels.extent->integer; });
  if (!all_channels || !plain(channels) || !plain(pixels)) return false;
  const std::int64_t lanes =
      where.cpu->lanes(dtype::f32);  // bytes are mostly computed in wider integers
  const expr_rv width = choices.categorical(s, {lanes, 2 * lanes, 4 * lanes}, {1, 1.5, 1});
  const auto [outer, inner] = s.split(loops[pixel], {infer, width});
  std::vector<loop_rv> order = loops;
  order[pixel] = outer;
  order_squares(s, std::move(order), channel, inner, choices, most_kinds);
  s.vectorize(inner);
  return true;
}

/// Lanes of vectors of the block's results. Where a reduction of floats has narrower results, as truth values, the vectors have the lanes
/// of the floats: results stay in the lanes in which the floats are compared.
inline std::int64_t result_lanes(const ir::block_node& b, const target::cpu& cpu) {
  std::int64_t out = cpu.lanes(b.writes[0].buffer->type);
  if (!b.init) return out;
  for (const access_profile& read : operand_loads(b))
    if (is_float(read.buffer->type))
      out = std::min<std::int64_t>(out, cpu.lanes(read.buffer->type));
  return out;
}

/// How likely one, two and four vectors at a time are. A reduction of tuples keeps its sums and the operands
/// that move along the vectors in registers: where those of four vectors do not fit, two are likelier, or one.
inline std::vector<double> weights_of_widths(const ir::block_node& b, std::size_t iter,
                                             const target::cpu& cpu) {
  if (b.writes.size() < 2 || !b.init) return {1, 1, 1.5};
  std::vector<ir::expr> along, all;
  ir::for_each_expr(b.body, [&](const ir::expr& e) {
    const auto same = [&](const ir::expr& other) { return ir::equal(other, e); };
    const auto written = [&](const ir::buffer_region& w) { return w.buffer == e->buffer; };
    if (e->op != ir::op::load || support::any(b.writes, written) || support::any(all, same)) return;
    all.push_back(e);
    if (ir::uses_var(e, b.iters[iter].var)) along.push_back(e);
  });
  constexpr std::size_t temporaries = 2;  // of each vector
  const auto fits = [&](std::size_t vectors) {
    return vectors * (b.writes.size() + along.size() + temporaries) + all.size() - along.size() <=
           static_cast<std::size_t>(cpu.vector_registers);
  };
  return fits(4)   ? std::vector<double>{1, 1, 1.5}
         : fits(2) ? std::vector<double>{1, 1.5, 0.5}
                   : std::vector<double>{1.5, 1, 0.5};
}

/// Whether sums of few terms stand one behind the other inside a loop, so that each waits for the additions of the one before: of
/// twice as many vectors, other additions run meanwhile. Deviations from means of windows of 20 rows, 500 x 128 results: 26.0 us with four
/// vectors at a time, 21.9 with eight.
inline bool has_sums_that_wait(const ir::stmt& body) {
  int sums = 0;
  ir::for_each_stmt(body, [&](const ir::stmt& s) {
    const ir::block_realize_node* inner = ir::as_realize(s);
    sums += inner && inner->block->init ? 1 : 0;
  });
  return sums >= 2;
}

/// Numbers of lanes of the vectors that are computed at a time, and how likely each is.
inline expr_rv draw_width(schedule& s, const ir::block_node& b, std::size_t iter,
                          const ir::loop_node& loop, std::int64_t lanes, const target::cpu& cpu,
                          chooser& choices) {
  std::vector<std::int64_t> widths{lanes, 2 * lanes, 4 * lanes};
  std::vector<double> weights = weights_of_widths(b, iter, cpu);
  constexpr int most_registers =
      24;  // a sum of each vector, what stays of the sum before, an operand
  if (!b.init && cpu.vector_registers > most_registers && ir::is_int(loop.extent) &&
      loop.extent->integer >= 8 * lanes && has_sums_that_wait(loop.body)) {
    widths.push_back(8 * lanes);
    weights.push_back(4);
  }
  return choices.categorical(s, widths, weights);
}

/// The loop of a block that becomes vectors.
struct lane_loop {
  const std::string& name;
  const ir::block_realize_node& realize;
  std::size_t iter, at;        // the variable along them; the position of its loop
  std::vector<loop_rv> loops;  // of the block
};

/// Rows that go past the caches.
/// @returns whether the block has such rows and they were chosen
inline bool take_streams(schedule& s, const lane_loop& of, const context& where, chooser& choices) {
  if (of.at + 1 != of.loops.size()) return false;
  const row_bytes size = bytes_of_rows(s, *of.realize.block, of.iter);
  if (!chooses_streams(size, *where.cpu, choices)) return false;
  make_streams(s, of.loops, where, !fills_caches(size, *where.cpu), choices);
  return true;
}

/// Columns that fill half a vector at most, and are no sums, with those beside them. Not of a copy with a border: each lane would ask for
/// its own element. A convolution of 26 x 27 pixels of 30 bytes, padded to 32, takes 31 us so, and 8 us with a pixel at a time.
/// @returns whether the block has such columns and they were chosen
inline bool take_short_columns(schedule& s, const lane_loop& of, const context& where,
                               chooser& choices) {
  const std::optional<access_profile> stored = stored_element(*of.realize.block);
  return !of.realize.block->init && stored && stored->affine && stored->stride[of.iter] == 1 &&
         !has_condition(*of.realize.block) && fuse_short_columns(s, of.name, where, choices);
}

/// Vectors along pixels whose few channels lie side by side.
/// @returns whether the block has such pixels
inline bool take_pixels(schedule& s, const lane_loop& of, const context& where, chooser& choices) {
  const ir::block_node& b = *of.realize.block;
  const std::optional<std::size_t> pixel = pixel_iter(b, of.iter);
  const std::optional<std::size_t> along =
      pixel ? loop_driving(s, of.realize, *pixel) : std::nullopt;
  return along && order_pixels(s, b, of.loops, of.at, *along, where, choices);
}

/// One to four vectors along the loop; those of a transposition below what is read side by side, those of a sum below its terms.
/// @returns false where the loop that is read side by side is taken already
inline bool take_vectors(schedule& s, const lane_loop& of, std::int64_t lanes, const context& where,
                         chooser& choices) {
  const ir::block_node& b = *of.realize.block;
  const expr_rv width =
      draw_width(s, b, of.iter, s.get(of.loops[of.at]), lanes, *where.cpu, choices);
  const std::optional<std::size_t> across = transposed_iter(s, b, of.iter);
  const std::optional<row_loop> rows = row_loop_of(s, of.realize);
  const auto [outer, inner] = s.split(of.loops[of.at], {infer, width});
  std::vector<loop_rv> order = of.loops;
  order[of.at] = outer;
  if (across) {
    const std::optional<std::size_t> along = loop_driving(s, of.realize, *across);
    if (!along || !plain(s.get(of.loops[*along]))) return false;
    order_squares(s, std::move(order), *along, inner, choices);
  } else if (rows && rows->at != of.at && plain(s.get(of.loops[rows->at]))) {
    order_rows(s, std::move(order), rows->at, rows->extent, inner);
  } else if (b.init || of.at + 1 != of.loops.size()) {
    order.erase(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(of.at));
    order.push_back(inner);
    s.reorder(order);
  }
  s.vectorize(inner);
  return true;
}

}  // namespace detail

TILEWRIGHT_INLINE void vectorize_innermost(schedule& s, const std::string& name,
                                           const context& where, chooser& choices) {
  const ir::block_realize_node& realize = named_block(s, name);
  const std::optional<std::size_t> iter = detail::vector_iter(s, *realize.block);
  if (!iter) return;
  const std::int64_t lanes = detail::result_lanes(*realize.block, *where.cpu);
  if (detail::goes_along_terms(*realize.block, *iter, lanes, choices))
    return detail::sum_together(s, name, where, choices);
  const std::optional<std::size_t> at = detail::loop_driving(s, realize, *iter);
  if (!at) return;
  schedule attempt = s;
  const detail::lane_loop of{name, realize, *iter, *at, attempt.get_loops(attempt.get_block(name))};
  const ir::loop_node& loop = attempt.get(of.loops[*at]);
  if (!detail::plain(loop) || (ir::is_int(loop.extent) && loop.extent->integer < 2)) return;
  try {
    if (detail::take_streams(attempt, of, where, choices) ||
        detail::take_short_columns(attempt, of, where, choices) ||
        detail::take_pixels(attempt, of, where, choices) ||
        detail::take_vectors(attempt, of, lanes, where, choices))
      s = std::move(attempt);
  } catch (const schedule_error&) {
    // a block that cannot be vectorized stays scalar
  }
}

TILEWRIGHT_INLINE void vectorize_squares(schedule& s, block_rv block, std::size_t across,
                                         std::size_t along, const context& where,
                                         chooser& choices) {
  const ir::block_realize_node& realize = s.get(block);
  const std::size_t iters = realize.block->iters.size();
  const std::int64_t lanes = where.cpu->lanes(realize.block->writes[0].buffer->type);
  std::vector<loop_rv> loops = s.get_loops(block);
  loops.erase(loops.begin(), loops.end() - static_cast<std::ptrdiff_t>(iters));
  if (detail::pixel_iter(*realize.block, across) == along &&
      detail::order_pixels(s, *realize.block, loops, across, along, where, choices))
    return;
  const auto [outer, inner] = s.split(loops[across], {infer, lanes});
  loops[across] = outer;
  detail::order_squares(s, std::move(loops), along, inner, choices);
  s.vectorize(inner);
}

TILEWRIGHT_INLINE void parallelize_outermost(schedule& s, const context& where) {
  if (where.threads > 1) detail::parallelize_nests(s, detail::all_iterations);
}

}  // namespace tilewright::space
