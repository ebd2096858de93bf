#pragma once

#include <algorithm>
#include <optional>

#include <tilewright/impl/space/tiles/tiler.hpp>
#include <tilewright/space/modules/multi_level_tiling_wide_vector.hpp>

namespace tilewright::space {
namespace detail::wide_vector {

/// The spatial variable that is the last index of the only output.
inline std::optional<std::size_t> last_written(const ir::block_node& block) {
  if (block.writes.size() != 1 || block.writes[0].box.empty()) return std::nullopt;
  const ir::expr& last = block.writes[0].box.back().min;
  for (std::size_t i = 0; i < block.iters.size(); ++i)
    if (block.iters[i].kind == ir::iter_kind::spatial && last.same(block.iters[i].var)) return i;
  return std::nullopt;
}

}  // namespace detail::wide_vector

TILEWRIGHT_INLINE multi_level_tiling multi_level_tiling_wide_vector::srsrs() {
  multi_level_tiling out;
  out.structure = "SRSRS";
  out.max_innermost_factor = 128;
  return out;
}

TILEWRIGHT_INLINE void multi_level_tiling_wide_vector::operator()(schedule& s,
                                                                  const std::string& name,
                                                                  const context& /*where*/,
                                                                  chooser& choices) const {
  if (!has_block(s, name) || is_tiled(s, name)) return;
  if (!(tiling.filter ? tiling.filter(s, name) : shares_operands(s, name))) return;
  const ir::block block = named_block(s, name).block;
  detail::tiler tiler(s, name, tiling, choices);
  if (const std::optional<std::size_t> last = detail::wide_vector::last_written(*block))
    tiler.fix_innermost(*last, vector_bits / (8 * bytes(block->writes[0].buffer->type)));
  tiler.run();
  if (const std::optional<loop_rv> vector = tiler.vector_tile()) s.vectorize(*vector);
}

}  // namespace tilewright::space
