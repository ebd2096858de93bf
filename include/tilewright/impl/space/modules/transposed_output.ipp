#pragma once

#include <algorithm>
#include <optional>

#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/space/tiles/arranged_dimension.hpp>
#include <tilewright/impl/space/tiles/moving_dimension.hpp>
#include <tilewright/impl/space/tiles/tile_conditions.hpp>
#include <tilewright/impl/space/vector_axis.hpp>
#include <tilewright/impl/space/windows/own_windows.hpp>
#include <tilewright/ir/extents.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/modules/arranged_operands.hpp>
#include <tilewright/space/modules/register_tiling.hpp>
#include <tilewright/space/modules/transposed_output.hpp>
#include <tilewright/space/register_tiles.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/numbers/checked.hpp>
#include <tilewright/support/stable_sort.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::space {
namespace detail {

/// Whether no other variable than this one, along which the output is contiguous, can be expected to
/// make better columns: their vectors are full and aligned.
inline bool suits(const ir::block_node& b, const block_profile& p, std::size_t columns,
                  const context& where) {
  const std::int64_t lanes = where.cpu->lanes(p.write.buffer->type);
  const std::int64_t extent = p.extent[columns], padded = (extent + lanes - 1) / lanes * lanes;
  const bool short_rows = extent <= 2 * lanes && 10 * extent < 9 * padded;
  return !short_rows && !reads_windows(b, columns);
}

/// The share of the machine's multiply-adds that the best register tile with these columns promises: what lies
/// inside, of rows and of vectors, since a last tile has as few of these as it needs, where loads keep up.
inline double promise_of(const block_profile& p, std::size_t columns, const context& where) {
  constexpr double enough = 1.5;  // multiply-adds a load
  const std::int64_t lanes = where.cpu->lanes(p.write.buffer->type);
  const std::optional<std::size_t> shared = p.reuse(columns);
  const std::int64_t extent = shared ? p.extent[*shared] : 1;
  double best = 0;
  for (const register_tile& t :
       register_tiles(*where.cpu, p.write.buffer->type, extent, p.extent[columns])) {
    const auto rows = static_cast<double>(t.rows),
               vectors = static_cast<double>(t.columns) / static_cast<double>(lanes);
    best = std::max(best, fill(extent, t.rows) *
                              std::min(1.0, rows * vectors / (rows + vectors) / enough) *
                              std::min(1.0, rows * vectors / 8));
  }
  return best * fill(p.extent[columns], lanes);
}

/// Whether vectors along this variable can be loaded of every operand, where those that can be
/// arranged are.
inline bool loads_arranged(const schedule& s, const std::string& block, const block_profile& p,
                           std::size_t columns) {
  return support::all(p.reads, [&](const access_profile& read) {
    return loads_vectors(read, columns) || is_arrangeable(s, block, read, columns);
  });
}

/// Whether the variable can be the columns, once operands are arranged. A window that moves along
/// the variable is worth no new layout of what it is read from unless the output asks for it.
inline bool can_become_columns(const schedule& s, const std::string& block, const block_profile& p,
                               std::size_t columns) {
  if (can_be_columns(s, block, p, columns)) return true;
  if (p.contiguous() != columns && reads_windows(*named_block(s, block).block, columns))
    return false;
  block_profile others = p;
  std::erase_if(others.reads, [&](const access_profile& read) {
    return is_arrangeable(s, block, read, columns);
  });
  return can_be_columns(s, block, others, columns);
}

/// How much work an element is that is laid out anew, counted in terms of sums: with channels as columns, 8 % of a
/// 7x7 convolution of three channels transposes its results. Operands are shuffled or transposed in whole vectors
/// when they are copied.
inline constexpr double terms_of_result = 12, terms_of_operand = 8;

/// What is left of a promise where `elements` are laid out anew, each as much work as `terms`.
inline double laying_out(const block_profile& p, double terms, std::int64_t elements) {
  const auto all = static_cast<double>(p.instances());
  return all / (all + terms * static_cast<double>(elements));
}

/// What is left of it when operands whose lanes do not lie side by side are laid out anew.
inline double loading(const schedule& s, const std::string& block, const block_profile& p,
                      std::size_t columns) {
  if (p.loads_vectors(columns)) return 1;
  const auto spread = [&](const access_profile& read) { return loads_spread(read, columns); };
  if (!loads_arranged(s, block, p, columns) && !support::all(p.reads, spread)) return 0.5;
  std::int64_t copied = 0;
  for (const access_profile& read : p.reads)
    if (!loads_vectors(read, columns))
      copied = support::saturated_sum(copied, ir::elements_of(read.buffer));
  return laying_out(p, terms_of_operand, copied);
}

/// What is left of it when the result has to be transposed.
inline double transposing(const block_profile& p) {
  return laying_out(p, terms_of_result, ir::elements_of(p.write.buffer));
}

/// What columns promise windows that serve one result each: the share of lanes with work, less what
/// it takes to transpose operand and result for other columns, which is as much as ten taps. On Zen 5,
/// 3x3 windows of channels-first images of 7 to 112 columns take 0.2 to 0.6 of the time that they took
/// with channels as columns, 5x5 windows about the same, and 7x7 windows more.
inline double promise_of_windows(const block_profile& p, std::size_t columns, bool present,
                                 const context& where) {
  constexpr double transposing_taps = 10, few_lanes = 1.0 / 3;
  const double lanes = fill(p.extent[columns], where.cpu->lanes(p.write.buffer->type)),
               taps = p.uses_of(own_operand(p)->buffer);
  if (!present) return lanes * taps / (taps + transposing_taps);
  return lanes < few_lanes ? lanes / 2 : lanes;
}

}  // namespace detail

TILEWRIGHT_INLINE std::vector<std::size_t> column_axes(const schedule& s, const std::string& block,
                                                       const context& where) {
  const std::optional<block_profile> p = profile(s, block);
  if (!p || !p->reduction || !p->has(ir::iter_kind::reduce)) return {};
  const ir::block_node& b = *named_block(s, block).block;
  const std::optional<std::size_t> present = p->contiguous();
  const bool as_it_is = needs_register_tiling(s, block);
  if (as_it_is && detail::suits(b, *p, *present, where)) return {*present};
  std::vector<std::size_t> out;
  std::vector<double> promise(p->kind.size(), 0);
  const bool own_windows = present && detail::reduces_own_windows(s, block, *p, *present);
  for (std::size_t i = 0; i < p->kind.size(); ++i) {
    if (p->kind[i] != ir::iter_kind::spatial || p->extent[i] < 2) continue;
    if (i != present && (!p->reuse(i) || !detail::output_dimension(b, i))) continue;
    if (!(i == present && as_it_is) && !detail::can_become_columns(s, block, *p, i)) continue;
    promise[i] = own_windows ? detail::promise_of_windows(*p, i, i == present, where)
                             : detail::promise_of(*p, i, where) *
                                   (i == present ? detail::loading(s, block, *p, i)
                                                 : detail::transposing(*p));
    out.push_back(i);
  }
  support::stable_sort(out, [&](std::size_t a, std::size_t c) { return promise[a] > promise[c]; });
  return out;
}

TILEWRIGHT_INLINE void transposed_output(schedule& s, const std::string& block,
                                         std::size_t columns) {
  if (profile(s, block)->contiguous() == columns) return;
  const block_rv b = s.get_block(block);
  const std::optional<std::size_t> last = detail::output_dimension(*s.get(b).block, columns);
  if (!last)
    throw schedule_error("transposed_output", 1,
                         "no dimension of what block " + block +
                             " writes has the variable of the columns alone as its index");
  if (is_output(s, block)) s.cache_write(b, 0, "global");
  const std::size_t rank = s.get(b).block->writes[0].box.size();
  if (*last + 1 < rank)
    s.transform_layout(b, written_buffer(0), detail::phases_last(rank, {*last, 1}));
}

}  // namespace tilewright::space
