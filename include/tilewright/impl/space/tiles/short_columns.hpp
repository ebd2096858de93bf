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
#include <tilewright/support/error.hpp>
#include <tilewright/target/cpu.hpp>
#include <tilewright/target/lane_step.hpp>

namespace tilewright::space::detail {

/// Profile of a block whatever loops drive its variables; nothing where an extent is not known or it stores to computed addresses.
inline std::optional<block_profile> profile_in_any_loops(const ir::block_node& b) {
  const std::optional<access_profile> stored = stored_element(b);
  if (!stored || !stored->affine) return std::nullopt;
  block_profile out;
  for (const ir::iter_var& i : b.iters) {
    if (!ir::is_int(i.dom.extent)) return std::nullopt;
    out.kind.push_back(i.kind);
    out.extent.push_back(i.dom.extent->integer);
  }
  out.write = *stored;
  out.reduction = static_cast<bool>(b.init);
  ir::for_each_expr(b.body, [&](const ir::expr& e) {
    const auto written = [&](const ir::buffer_region& w) { return w.buffer == e->buffer; };
    if (e->op == ir::op::load && support::none(b.writes, written))
      out.reads.push_back(profile_access(b, e->buffer, e->args));
  });
  return out;
}

/// The variable whose elements, with `extent` others, lie side by side in the result.
inline std::optional<std::size_t> beside_columns(const block_profile& p, std::int64_t extent) {
  for (std::size_t i = 0; i < p.kind.size(); ++i)
    if (p.kind[i] == ir::iter_kind::spatial && p.extent[i] > 1 && p.write.stride[i] == extent)
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

/// Elements after which the columns begin with lane 0 again, so that what each lane reads is known.
inline std::int64_t period_of(std::int64_t extent, std::int64_t lanes) {
  return extent / std::gcd(extent, lanes) * lanes;
}

/// The variables that lanes had better run over together, outermost first and the columns last: where the columns fill half a vector
/// at most and some operand has an element for each result, those beside them; of reductions one, of other blocks as many as fill
/// whole vectors. Nothing where no variable suits.
inline std::vector<std::size_t> suits_fused_columns(const block_profile& p, const context& where) {
  constexpr std::int64_t most_vectors = 12;  // of a period of several variables
  const std::optional<std::size_t> columns = p.contiguous();
  const std::int64_t lanes = where.cpu->lanes(p.write.buffer->type);
  if (!columns || 2 * p.extent[*columns] > lanes || !own_operand(p)) return {};
  std::vector<std::size_t> out{*columns};
  for (std::int64_t extent = p.extent[*columns]; out.size() < (p.reduction ? 2 : p.kind.size());) {
    const std::optional<std::size_t> beside = beside_columns(p, extent);
    const auto nearby = [&](const access_profile& read) {
      return reads_nearby(read, *beside, *columns, extent);
    };
    if (!beside || support::contains(out, *beside) || !support::all(p.reads, nearby)) break;
    if (out.size() > 1 && (extent % lanes == 0 || period_of(extent, lanes) > most_vectors * lanes))
      break;
    out.insert(out.begin(), *beside);
    extent *= p.extent[*beside];
  }
  return out.size() > 1 ? out : std::vector<std::size_t>{};
}

/// How many elements are written out: a few periods, or all of a short row.
inline expr_rv elements_at_once(schedule& s, std::int64_t period, std::int64_t row,
                                std::int64_t lanes, chooser& choices) {
  constexpr std::int64_t most_vectors = 8;
  if (row <= most_vectors * lanes && row > period)
    return choices.categorical(s, {row, period}, {2, 1});
  if (row <= period) return choices.categorical(s, {row}, {1});
  return choices.categorical(s, {period, 2 * period, 4 * period}, {2, 1.5, 1});
}

/// The loops of a block by its variables; empty where a loop does more than to count one of them, or more of it, or less.
inline std::vector<loop_rv> loops_by_variable(const schedule& s, const block_profile& p,
                                              const ir::block_realize_node& realize,
                                              const std::vector<loop_rv>& loops) {
  std::vector<loop_rv> out;
  for (std::size_t i = 0; i < p.kind.size(); ++i) {
    const std::optional<std::size_t> at = loop_driving(s, realize, i);
    if (!at || !ir::is_int(s.get(loops[*at]).extent, p.extent[i]) || !plain(s.get(loops[*at])))
      return {};
    out.push_back(loops[*at]);
  }
  return out;
}

/// `for p, q, c, r, s` becomes `for p, v_0, r, s, v_1`, where v is q and c, and v_1 the lanes.
/// @returns whether the block has columns that suit, in loops that hold nothing else
inline bool fuse_columns(schedule& s, const std::string& name, const context& where,
                         chooser& choices) {
  const ir::block_realize_node& realize = named_block(s, name);
  const std::optional<block_profile> p = profile_in_any_loops(*realize.block);
  if (!p) return false;
  const std::vector<std::size_t> fused = suits_fused_columns(*p, where);
  schedule attempt = s;
  const block_rv block = attempt.get_block(name);
  const std::vector<loop_rv> loops =
      loops_by_variable(attempt, *p, realize, attempt.get_loops(block));
  if (fused.empty() || loops.empty()) return false;
  std::vector<loop_rv> order, together, reduced;
  std::int64_t row = 1;
  for (std::size_t i = 0; i < loops.size(); ++i)
    if (p->kind[i] == ir::iter_kind::reduce)
      reduced.push_back(loops[i]);
    else if (!support::contains(fused, i))
      order.push_back(loops[i]);
  for (const std::size_t i : fused) {
    together.push_back(loops[i]);
    row *= p->extent[i];
  }
  order.insert(order.end(), together.begin(), together.end());
  order.insert(order.end(), reduced.begin(), reduced.end());
  try {
    attempt.reorder(order);
    const std::int64_t lanes = where.cpu->lanes(p->write.buffer->type),
                       period = period_of(row / p->extent[fused.front()], lanes);
    const expr_rv width = elements_at_once(attempt, period, row, lanes, choices);
    const auto [rest, lane] = attempt.split(attempt.fuse(together), {infer, width});
    std::vector<loop_rv> inner{rest};
    inner.insert(inner.end(), reduced.begin(), reduced.end());
    inner.push_back(lane);
    attempt.reorder(inner);
    attempt.vectorize(lane);
    if (!reduced.empty()) {
      attempt.annotate(reduced.front(), ir::unroll_note,
                       choices.categorical(attempt, {0, 64, 192}, {1, 1, 2}));
      attempt.decompose_reduction(block, reduced.front());
    }
  } catch (const schedule_error&) {
    return false;
  }
  s = std::move(attempt);
  return true;
}

/// Columns that fill half a vector at most, and those beside them, become the lanes. A structural choice, the first one where it suits
/// the block. A reduction is an output that reads no other block's results, whose loops would have to be the same.
/// @returns whether it was taken
inline bool fuse_short_columns(schedule& s, const std::string& name, const context& where,
                               chooser& choices) {
  if (named_block(s, name).block->init && (!is_output(s, name) || !producer_names(s, name).empty()))
    return false;
  schedule attempt = s;
  if (!fuse_columns(attempt, name, where, choices) || choices.pick(2) == 1) return false;
  s = std::move(attempt);
  return true;
}

}  // namespace tilewright::space::detail
