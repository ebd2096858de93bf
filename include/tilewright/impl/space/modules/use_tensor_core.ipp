#pragma once

#include <tilewright/impl/space/tensor_cores/formed_product.hpp>
#include <tilewright/impl/space/tensor_cores/group_tiles.hpp>
#include <tilewright/impl/space/tensor_cores/staged_copies.hpp>
#include <tilewright/space/access_pattern.hpp>
#include <tilewright/space/modules/use_tensor_core.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/space/tensor_form.hpp>

namespace tilewright::space {

TILEWRIGHT_INLINE void use_tensor_core::operator()(schedule& s, const std::string& name,
                                                   const context& where, chooser& choices) const {
  if (!has_block(s, name) || is_tiled(s, name)) return;
  const schedule before = s;
  const auto formed = detail::form_product(s, name, *this, where);
  if (!formed) return;
  const detail::first_tiles& first = formed->first;
  const block_rv tile = formed->tile, root = s.get_block("root");
  s.annotate(tile, tiling_structure_key, "SSSRRSRS");
  s.annotate(tile, "meta_schedule.auto_tensorize_init", "");
  if (detail::is_of_groups(s, tile))
    return detail::tile_groups(*this, s, tile, before, where, choices);
  s.annotate(root, "warp_execution", 1);
  // tiles of fragments
  std::vector<loop_rv> loops = s.get_loops(tile);
  const loop_rv k = loops.back(), j = loops[loops.size() - 2], i = loops[loops.size() - 3];
  const auto is = s.split(i, choices.perfect_tile(s, i, 4, first.rows));
  const auto js = s.split(j, choices.perfect_tile(s, j, 4, first.columns));
  const auto ks = s.split(k, choices.perfect_tile(s, k, 4, first.steps));
  std::vector<loop_rv> grid(loops.begin(), loops.end() - 3);  // batches
  grid.insert(grid.end(), {is[0], js[0], is[1], js[1]});
  std::vector<loop_rv> order = grid;
  order.insert(order.end(), {is[2], js[2], ks[0], ks[1], is[3], js[3], ks[2], is[4], js[4]});
  s.reorder(order);
  s.bind(s.fuse(grid), "blockIdx.x");
  const loop_rv warps = s.fuse(is[2], js[2]);
  s.bind(warps, "threadIdx.y");
  s.annotate(tile, "meta_schedule.thread_extent_low_inclusive", warp_size);
  s.annotate(tile, "meta_schedule.thread_extent_high_inclusive", max_threads_per_block);
  // copies, and the vectors in which their bytes move
  const auto in_vectors = [&](block_rv copy) {
    s.annotate(copy, "vector_bytes", choices.categorical(s, {16, 8, 4}, {1, 1, 1}));
  };
  const block_rv sums = s.write_at(warps, tile, 0, "wmma.accumulator");
  const block_rv store = staged ? s.write_at(warps, sums, 0, "shared.dyn") : sums;
  if (staged) detail::spread_rows(s, sums);
  detail::take_epilogue(s, s.get(store).block->name);
  in_vectors(store);
  std::vector<block_rv> copies;
  for (const int operand : {0, 1}) {
    copies.push_back(s.read_at(ks[0], tile, operand, "shared.dyn"));
    in_vectors(copies.back());
    detail::bring_operand(s, copies.back(), background, tensor_copies);
  }
  s.read_at(ks[1], tile, 0, "wmma.matrix_a");
  s.read_at(ks[1], tile, 1, "wmma.matrix_b");
  for (const block_rv copy : copies) detail::lie_as_in_memory(s, copy);
  // loads of the next step beside the products of this one
  using list = ir::attr::list;
  s.annotate(ks[1], "software_pipeline_stage", list{0, 0, 1});
  s.annotate(ks[1], "software_pipeline_order", list{0, 1, 2});
  const int b = background > 0 ? background + first.further : 0, last = carried ? b + 1 : b;
  const list stages = b ? list{0, 0, b, b, last} : list{0, 0, 0, 0, 0, 1, 1};
  s.annotate(ks[0], "software_pipeline_stage", stages);
  const list turns = carried ? list{2, 3, 0, 4, 1} : list{0, 1, 2, 3, 4};
  s.annotate(ks[0], "software_pipeline_order", b ? turns : list{0, 3, 1, 4, 5, 2, 6});
  if (b > 0) s.annotate(ks[0], "software_pipeline_async_stages", list{0});
}

}  // namespace tilewright::space
