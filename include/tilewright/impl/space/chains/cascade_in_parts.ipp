#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/impl/schedule/primitive/reductions/cascade.hpp>
#include <tilewright/impl/space/chains/moved_chain.hpp>
#include <tilewright/impl/space/tile_conditions.hpp>
#include <tilewright/impl/space/tiles/operand_panels.hpp>
#include <tilewright/impl/space/tiles/stageable_operands.hpp>
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

/// The reduction that combines what the parts of a cascade have.
inline std::optional<std::string> whole_of(const schedule& s) {
  std::optional<std::string> out;
  for (const std::string& name : root_block_names(s)) {
    const ir::block_node& b = *named_block(s, name).block;
    if (b.init && b.writes.size() > 1) out = name;
  }
  return out;
}

/// Dimensions that the results of all reductions of the cascade have: those of the shortest operand, the part
/// left out.
inline std::size_t common_dimensions(const ir::block_node& whole) {
  std::size_t out = whole.iters.size();
  for (const ir::buffer_region& r : whole.reads) out = std::min(out, r.box.size());
  return out - 1;
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
  return product{name, *columns, *rows, *p};
}

/// A register tile inside the loops that the block has below those of the part.
/// @param panels where transposed operands are copied; nothing: before all loops
inline void tile_product(schedule& s, const product& p, std::optional<loop_rv> panels,
                         const context& where, chooser& choices) {
  constexpr std::int64_t code_of_rows = 4096;
  const block_rv block = s.get_block(p.name);
  const int lanes = where.cpu->lanes(p.profile.write.buffer->type);
  std::vector<loop_rv> inner = s.get_loops(block);
  inner.erase(inner.begin(), inner.end() - static_cast<std::ptrdiff_t>(p.profile.kind.size()));
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
  for (std::size_t i = 0; i < inner.size(); ++i)
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

}  // namespace detail::parts

TILEWRIGHT_INLINE std::vector<std::int64_t> cascade_part_lengths(const schedule& s) {
  const primitive::parted_cascade cascade = primitive::reduce_in_parts(s.function(), 0);
  std::vector<std::int64_t> out;
  for (const std::int64_t length : {64, 128, 256, 512, 1024})
    if (cascade.wide && cascade.extent % length == 0 && length < cascade.extent)
      out.push_back(length);
  return out;
}

TILEWRIGHT_INLINE void cascade_in_parts(schedule& s, const context& where, chooser& choices) {
  namespace parts = detail::parts;
  const std::vector<std::int64_t> lengths = cascade_part_lengths(s);
  if (lengths.empty())
    throw schedule_error("cascade_in_parts", 1, "the function has no cascade with parts");
  std::vector<double> weights;
  for (const std::int64_t length : lengths)
    weights.push_back(length == 128 ? 2.0 : length == 64 || length == 256 ? 1.5 : 1.0);
  const expr_rv length = choices.categorical(s, lengths, weights);
  s.annotate(s.get_block("root"), ir::sizes_attribute, annotation_value::list{length});
  s.work_on(s.function().name + std::string(primitive::parts_suffix));

  const std::optional<std::string> whole = parts::whole_of(s);
  if (!whole) throw schedule_error("cascade_in_parts", 1, "no block combines the parts");
  const std::size_t common = parts::common_dimensions(*named_block(s, *whole).block);
  const std::string outer = parts::epilogue_of(s, *whole).value_or(*whole);
  std::vector<std::string> chain = detail::chain_above(s, *whole);
  std::vector<parts::product> products;
  for (const std::string& name : chain)
    if (auto p = parts::product_of(s, name)) {
      p->is_scores = support::none(consumer_names(s, name),
                                   [&](const std::string& reader) { return reader == *whole; });
      products.push_back(*p);
    }

  // groups of rows, and below them the parts
  std::vector<loop_rv> loops = s.get_loops(s.get_block(outer));
  std::optional<loop_rv> panels, group;
  if (common > 1) panels = loops[common - 2];
  std::vector<loop_rv> rest(loops.begin() + static_cast<std::ptrdiff_t>(common), loops.end());
  if (common > 0) {
    const ir::expr extent = s.get(loops[common - 1]).extent;
    const expr_rv rows = parts::draw_rows(s, ir::is_int(extent) ? extent->integer : 1, choices);
    const auto [groups, row] = s.split(loops[common - 1], {infer, rows});
    group = groups;
    rest.insert(rest.begin(), row);
  }
  const block_rv combined = s.get_block(*whole);
  loop_rv part;
  if (outer == *whole) {
    part = rest.back();
    std::rotate(rest.begin(), rest.end() - 1, rest.end());
    s.reorder(rest);
  } else {
    if (group) s.compute_at(combined, *group, true);
    std::vector<loop_rv> own = s.get_loops(combined);
    if (group) own.erase(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(common));
    part = own.back();
    std::rotate(own.begin(), own.end() - 1, own.end());
    s.reorder(own);
  }

  std::vector<std::string> moved;
  for (const std::string& name : chain) {
    schedule attempt = s;
    try {
      attempt.compute_at(attempt.get_block(name), part, true);
    } catch (const schedule_error&) {
      continue;
    }
    if (detail::repeats_itself(attempt, name)) continue;
    s = std::move(attempt);
    moved.push_back(name);
  }
  for (const parts::product& p : products)
    if (support::contains(moved, p.name)) parts::tile_product(s, p, panels, where, choices);
  const std::vector<std::string> blocks = root_block_names(s);
  for (const std::string& name : blocks)
    if (support::none(products, [&](const parts::product& p) { return p.name == name; }))
      vectorize_innermost(s, name, where, choices);
  s.decompose_reduction(combined, part);
  parallelize_outermost(s, where);
}

}  // namespace tilewright::space
