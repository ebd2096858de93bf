#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/impl/schedule/primitive/reductions/algorithm_form.hpp>
#include <tilewright/impl/schedule/primitive/reductions/cascade.hpp>
#include <tilewright/impl/space/chains/moved_chain.hpp>
#include <tilewright/impl/space/tiles/operand_panels.hpp>
#include <tilewright/impl/space/tiles/stageable_operands.hpp>
#include <tilewright/impl/space/tiles/tile_conditions.hpp>
#include <tilewright/ir/reformatted.hpp>
#include <tilewright/schedule/primitive/query.hpp>
#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/chains/cascade_in_parts.hpp>
#include <tilewright/space/modules/parallel_vectorize.hpp>
#include <tilewright/space/register_tiles.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::space {
namespace detail::parts {

/// Groups of rows are multiples of `step_of_rows` where rows are, and parts are of `least_part`, so that register
/// tiles divide them.
inline constexpr std::int64_t step_of_rows = 8, least_part = 64;

/// Scores of some rows that are no longer than this stay in the second-level cache.
inline constexpr std::int64_t longest_whole_rows = 2048;

/// The reduction that combines what the parts of a cascade have.
inline std::optional<std::string> whole_of(const schedule& s) {
  std::optional<std::string> out;
  for (const std::string& name : root_block_names(s)) {
    const ir::block_node& b = *named_block(s, name).block;
    if (b.init && b.writes.size() > 1) out = name;
  }
  return out;
}

/// The block that alone reads what `name` makes, an element for each of its own.
inline std::optional<std::string> epilogue_of(const schedule& s, const std::string& name) {
  const std::vector<std::string> readers = consumer_names(s, name);
  if (readers.size() != 1 || is_output(s, name)) return std::nullopt;
  const std::optional<block_profile> own = reduction_profile(s, name),
                                     reader = profile(s, readers[0]);
  if (!own || !reader || reader->reduction || reader->updates) return std::nullopt;
  for (std::size_t i = 0; i < reader->extent.size(); ++i)
    if (reader->write.stride[i] != own->write.stride[i] || reader->extent[i] != own->extent[i])
      return std::nullopt;
  return reader->extent.size() + 1 == own->extent.size() ? std::optional(readers[0]) : std::nullopt;
}

/// A product among the blocks of a cascade, as it is before it is moved.
struct product {
  std::string name;
  std::size_t columns, rows;
  block_profile profile;
  bool is_scores = false;  // its columns are the axis that is cut in parts
  std::optional<std::size_t>
      groups;  // position of the loop over groups of rows where that is its own
};

inline std::optional<product> product_of(const schedule& s, const std::string& name) {
  const std::optional<block_profile> p = profile(s, name);
  if (!p || !p->reduction || !p->has(ir::iter_kind::reduce)) return std::nullopt;
  const std::optional<std::size_t> columns = p->contiguous();
  const std::optional<std::size_t> rows = columns ? p->reuse(*columns) : std::nullopt;
  if (!rows) return std::nullopt;
  const ir::block_node& b = *named_block(s, name).block;
  const auto loads = [&](const access_profile& read) {
    return loads_vectors(read, *columns) || is_panel_material(s, b, read, *columns, *rows);
  };
  if (!support::all(p->reads, loads)) return std::nullopt;
  return product{name, *columns, *rows, *p, false, {}};
}

/// A register tile inside the loops that the block has below those of the part.
/// @param panels where transposed operands are copied; nothing: before all loops
inline void tile_product(schedule& s, const product& p, std::optional<loop_rv> panels,
                         const context& where, chooser& choices) {
  constexpr std::int64_t code_of_rows = 4096;
  const block_rv block = s.get_block(p.name);
  const int lanes = where.cpu->lanes(p.profile.write.buffer->type);
  std::vector<loop_rv> inner = s.get_loops(block);
  std::size_t outside = 0;  // of its own loops, around all that goes along
  if (p.groups) {
    outside = *p.groups;
    inner.erase(inner.begin() + static_cast<std::ptrdiff_t>(outside));
  } else {
    inner.erase(inner.begin(), inner.end() - static_cast<std::ptrdiff_t>(p.profile.kind.size()));
  }
  // whole tiles alone write all of a part's scores for sure, so that a buffer of that size will do
  const bool whole_rows = p.profile.extent[p.rows] % step_of_rows == 0;
  const std::int64_t wide = p.is_scores ? least_part : p.profile.extent[p.columns];
  std::vector<std::int64_t> codes;
  std::vector<double> weights;
  for (const bool whole : {true, false}) {
    for (const register_tile& t :
         register_tiles(*where.cpu, p.profile.write.buffer->type, step_of_rows, wide)) {
      if (whole && ((whole_rows && step_of_rows % t.rows != 0) || wide % t.columns != 0)) continue;
      codes.push_back(t.rows * code_of_rows + t.columns);
      weights.push_back(t.weight);
    }
    if (!codes.empty()) break;
  }
  const expr_rv code = choices.categorical(s, codes, weights);
  const auto [columns, column_tile] =
      s.split(inner[p.columns], {infer, floormod(code, code_of_rows)});
  const auto [rows, row_tile] = s.split(inner[p.rows], {infer, floordiv(code, code_of_rows)});
  std::vector<loop_rv> order, reduced;
  for (std::size_t i = outside; i < inner.size(); ++i)
    if (i != p.columns && i != p.rows)
      (p.profile.kind[i] == ir::iter_kind::reduce ? reduced : order).push_back(inner[i]);
  order.insert(order.end(), {columns, rows});
  order.insert(order.end(), reduced.begin(), reduced.end());
  order.insert(order.end(), {row_tile, column_tile});
  s.reorder(order);
  const operand_panels copies{s, block, p.columns, lanes};
  for (const int r : stageable_operands(
           s, p.profile, [&](const access_profile& x) { return !loads_vectors(x, p.columns); }))
    copies.transpose(r, panels);
  s.vectorize(column_tile);
  s.unroll(row_tile);
  s.decompose_reduction(block, reduced.front());
}

/// How many rows go together: divisors of all, if there are any.
inline expr_rv draw_rows(schedule& s, std::int64_t rows, chooser& choices) {
  std::vector<std::int64_t> sizes;
  std::vector<double> weights;
  for (const bool divides : {true, false}) {
    for (const std::int64_t n : {8, 16, 24, 32, 40, 48, 56, 64, 96, 128, 256}) {
      if (n > rows || (divides ? rows % n != 0 : n % 16 != 0)) continue;
      sizes.push_back(n);
      weights.push_back(n == 64 ? 3 : n >= 32 && n <= 128 ? 2 : 1);
    }
    if (!sizes.empty()) return choices.categorical(s, sizes, weights);
  }
  return choices.categorical(s, {std::max<std::int64_t>(rows, 1)}, {1});
}

/// Goes on with the form in parts of a drawn length.
inline void work_on_parts(schedule& s, const std::vector<std::int64_t>& lengths, chooser& choices) {
  std::vector<double> weights;
  for (const std::int64_t length : lengths)
    weights.push_back(length == 256 ? 2.0 : length == 128 || length == 512 ? 1.5 : 1.0);
  const expr_rv length = choices.categorical(s, lengths, weights);
  s.annotate(s.get_block("root"), ir::sizes_attribute, annotation_value::list{length});
  s.work_on(s.function().name + std::string(primitive::parts_suffix));
}

}  // namespace detail::parts

TILEWRIGHT_INLINE bool has_wide_cascade(const schedule& s) {
  return primitive::reduce_in_parts(s.function(), 0).wide;
}

TILEWRIGHT_INLINE bool suits_cascade_in_parts(const schedule& s) {
  constexpr std::int64_t least_rows = 16;
  const primitive::parted_cascade cascade = primitive::reduce_in_parts(s.function(), 0);
  if (!cascade.wide || cascade.common == 0) return false;
  const std::optional<block_profile> p = profile(s, cascade.widest);
  return p && p->extent[cascade.common - 1] >= least_rows;
}

TILEWRIGHT_INLINE std::vector<std::int64_t> cascade_part_lengths(const schedule& s) {
  const std::int64_t extent = primitive::reduce_in_parts(s.function(), 0).extent;
  std::vector<std::int64_t> out;
  for (const std::int64_t length : {64, 128, 256, 512, 1024})
    if (extent % length == 0 && length < extent) out.push_back(length);
  return out;
}

TILEWRIGHT_INLINE void cascade_in_parts(schedule& s, const context& where, chooser& choices) {
  namespace parts = detail::parts;
  const primitive::parted_cascade cascade = primitive::reduce_in_parts(s.function(), 0);
  if (!cascade.wide)
    throw schedule_error(
        "cascade_in_parts", 1,
        "no reduction of the function needs a maximum and has results along more axes");
  const std::vector<std::int64_t> lengths = cascade_part_lengths(s);
  std::string last = cascade.widest;
  // rows of scores that a cache holds need no parts
  const bool rows_fit = cascade.extent <= parts::longest_whole_rows;
  const bool cut = !lengths.empty() && (choices.pick(2) == 0) != rows_fit;
  if (cut) {
    parts::work_on_parts(s, lengths, choices);
    last = *parts::whole_of(s);
  }
  const std::string outer = parts::epilogue_of(s, last).value_or(last);
  std::vector<std::string> chain = detail::chain_above(s, cut ? last : outer);
  std::erase(chain, last);
  std::vector<parts::product> products;
  for (const std::string& name : chain)
    if (auto p = parts::product_of(s, name)) {
      p->is_scores = cut && support::none(consumer_names(s, name), [&](const std::string& reader) {
                       return reader == last;
                     });
      products.push_back(*p);
    }
  if (!cut)
    if (auto p = parts::product_of(s, last)) {
      if (outer == last && cascade.common > 0) p->groups = cascade.common - 1;
      products.push_back(*p);
    }

  // groups of rows, and below them the parts
  const std::size_t common = cascade.common;
  const std::vector<loop_rv> loops = s.get_loops(s.get_block(outer));
  std::optional<loop_rv> panels, place;
  if (common > 1) panels = loops[common - 2];
  const block_rv combined = s.get_block(last);
  if (common > 0) {
    const ir::expr extent = s.get(loops[common - 1]).extent;
    const expr_rv rows = parts::draw_rows(s, ir::is_int(extent) ? extent->integer : 1, choices);
    const auto [groups, row] = s.split(loops[common - 1], {infer, rows});
    place = groups;
    if (outer != last) s.compute_at(combined, groups, true);
  }
  if (cut) {
    std::vector<loop_rv> own = s.get_loops(combined);
    own.erase(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(common));
    place = own.back();
    std::rotate(own.begin(), own.end() - 1, own.end());
    s.reorder(own);
  }
  if (!place)
    throw schedule_error("cascade_in_parts", 2,
                         "the cascade has no rows, and is computed as a whole");

  std::vector<std::string> moved{last};
  for (const std::string& name : chain) {
    schedule attempt = s;
    try {
      attempt.compute_at(attempt.get_block(name), *place, true);
    } catch (const schedule_error&) {
      continue;
    }
    if (detail::repeats_itself(attempt, name)) continue;
    s = std::move(attempt);
    moved.push_back(name);
  }
  for (const parts::product& p : products)
    if (support::contains(moved, p.name)) parts::tile_product(s, p, panels, where, choices);
  for (const std::string& name : root_block_names(s))
    if (support::none(products, [&](const parts::product& p) { return p.name == name; }))
      vectorize_innermost(s, name, where, choices);
  if (cut) s.decompose_reduction(combined, *place);
  parallelize_outermost(s, where);
}

}  // namespace tilewright::space
