#pragma once

#include <tilewright/impl/space/tiles/tiler.hpp>
#include <tilewright/space/modules/multi_level_tiling.hpp>

namespace tilewright::space {

TILEWRIGHT_INLINE void multi_level_tiling::operator()(schedule& s, const std::string& name,
                                                      const context& /*where*/,
                                                      chooser& choices) const {
  if (!has_block(s, name) || is_tiled(s, name)) return;
  if (filter ? filter(s, name) : shares_operands(s, name))
    detail::tiler(s, name, *this, choices).run();
}

TILEWRIGHT_INLINE multi_level_tiling cpu_tiling() {
  multi_level_tiling out;
  out.reuse_write = {staging::may, {1, 2}, "global"};
  return out;
}

TILEWRIGHT_INLINE multi_level_tiling gpu_tiling() {
  multi_level_tiling out;
  out.structure = "SSSRRSRS";
  out.tile_binds = {"blockIdx.x", "vthread.x", "threadIdx.x"};
  out.vector_load_lengths = {1, 2, 3, 4, 8, 16};
  out.reuse_read = {staging::must, {4}, "shared"};
  out.reuse_write = {staging::must, {3}, "local"};
  return out;
}

}  // namespace tilewright::space
