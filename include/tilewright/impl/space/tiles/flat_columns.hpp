// Rows that lie behind each other in all that a reduction touches, as those of an image that is convolved pixel by
// pixel: rows and columns become one variable, whose tiles do not end where a row does.
//
//   Y[k, p, q] += F[k, c] * X[c, p, q]   ->   Y[k, v // 56, v % 56] += F[k, c] * X[c, v // 56, v % 56]
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/impl/space/vector_axis.hpp>
#include <tilewright/impl/space/windows/borders.hpp>
#include <tilewright/impl/space/windows/own_windows.hpp>
#include <tilewright/ir/index_map.hpp>
#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/chooser.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::space::detail {

/// The variable whose step leads in every access behind the last of the columns.
inline std::optional<std::size_t> rows_behind(const block_profile& p, std::size_t columns) {
  for (std::size_t i = 0; i < p.kind.size(); ++i) {
    if (i == columns || p.kind[i] != ir::iter_kind::spatial || p.extent[i] < 2) continue;
    const auto follows = [&](const access_profile& a) {
      return a.affine && a.stride[i] == a.stride[columns] * p.extent[columns];
    };
    if (follows(p.write) && support::all(p.reads, follows)) return i;
  }
  return std::nullopt;
}

/// Whether a reduction moves windows along the variable, or zeros beside it are left out.
inline bool has_windows_along(const ir::block_node& b, const block_profile& p, std::size_t iter) {
  bool out = skips_zeros(b);
  for (std::size_t i = 0; i < p.kind.size(); ++i)
    out =
        out || (p.kind[i] == ir::iter_kind::reduce && p.extent[i] > 1 && moves_windows(b, iter, i));
  return out;
}

/// Makes one variable of the columns of an output and of the rows behind them, where vectors do not fill the
/// columns; a structural choice where they do not fill both together either. Other blocks that touch what this
/// one does keep it from that, since their loops would have to be the same. A convolution of 1 x 1 with channels
/// first, 64 to 256 of 56 x 56 pixels, takes 387 us so, and 423 us with channels as columns, whose results are
/// transposed.
inline void flatten_columns(schedule& s, const std::string& name, const context& where,
                            chooser& choices) {
  const std::optional<block_profile> p = profile(s, name);
  const std::optional<std::size_t> columns = p ? p->contiguous() : std::nullopt;
  if (!columns || !p->reduction || !p->has(ir::iter_kind::reduce) || !p->reuse(*columns)) return;
  const std::int64_t lanes = where.cpu->lanes(p->write.buffer->type);
  if (p->extent[*columns] % lanes == 0) return;
  if (!is_output(s, name) || !producer_names(s, name).empty() || !consumer_names(s, name).empty())
    return;
  const std::optional<std::size_t> rows = rows_behind(*p, *columns);
  const ir::block_node& b = *named_block(s, name).block;
  if (!rows || has_windows_along(b, *p, *rows) || has_windows_along(b, *p, *columns)) return;
  if (p->extent[*columns] * p->extent[*rows] % lanes != 0 && choices.pick(2) == 1) return;
  const ir::index_map map = ir::make_index_map(p->kind.size(), [&](const std::vector<ir::var>& v) {
    const ir::expr extent = ir::integer(v[*columns].type(), p->extent[*columns]);
    std::vector<ir::expr> out;
    for (std::size_t i = 0; i < v.size(); ++i)
      if (i == *rows)
        out.push_back(ir::expr(v[i]) * extent + v[*columns]);
      else if (i != *columns)
        out.push_back(v[i]);
    return out;
  });
  try {
    s.transform_block_layout(s.get_block(name), map);
  } catch (const schedule_error&) {
    // the block keeps its variables
  }
}

}  // namespace tilewright::space::detail
