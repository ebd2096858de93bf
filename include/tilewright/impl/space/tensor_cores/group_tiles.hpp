// Tiles of a product that warp groups compute, with operands in shared memory: wgmma.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <tilewright/impl/space/tensor_cores/staged_copies.hpp>
#include <tilewright/impl/target/warp_groups.hpp>
#include <tilewright/ir/kernel_notes.hpp>
#include <tilewright/space/chooser.hpp>
#include <tilewright/space/modules/use_tensor_core.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/target/gpu.hpp>

namespace tilewright::space::detail {

inline bool is_of_groups(std::string_view intrinsic) { return intrinsic.starts_with("wgmma_"); }

/// Whether that is what the block becomes.
inline bool is_of_groups(const schedule& s, block_rv block) {
  const ir::block b = s.get(block).block;
  const auto note = b->annotations.find("meta_schedule.auto_tensorize");
  if (note == b->annotations.end()) return false;
  const auto* name = std::get_if<std::string>(&note->second.value);
  return name && is_of_groups(*name);
}

/// Whether the device has the instruction, where it is one of warp groups.
inline bool suits_device(std::string_view intrinsic, const target::gpu* device) {
  return !is_of_groups(intrinsic) || (device && target::multiplies_in_groups(*device));
}

/// Terms of a step of warp groups, in sixteens: rows of 128 bytes.
inline constexpr std::int64_t terms_of_groups = 4;

/// Blocks, at most one for each of so many multiprocessors, that make all tiles in as many rounds: nearly as many; 0: there
/// are none.
inline std::int64_t lasting_blocks(std::int64_t tiles, std::int64_t multiprocessors) {
  for (std::int64_t n = multiprocessors; n * 10 >= multiprocessors * 9; --n)
    if (tiles % n == 0 && tiles > n) return n;
  return 0;
}

/// Tiles the product `tile`, in tiles of an intrinsic of warp groups:
/// ```
/// i, j, k  ->  i0 j0 i1 j1 (blockIdx.x) | i2 j2 (threadIdx.y) | k0 | k1 i3 j3
/// ```
/// A step of k0 is 64 terms, rows of 128 bytes, as tensor cores read them. `rule`: its rows, columns, background,
/// staged, tensor_copies, tensor_stores, producer and persistent, by which a loop over rounds of tiles stands inside of the blocks'.
/// Where the reduction has no such steps, or the copy engine cannot store the results, the schedule is `otherwise` again.
inline void tile_groups(const use_tensor_core& rule, schedule& s, block_rv tile,
                        const schedule& otherwise, const context& where, chooser& choices) {
  const std::vector<loop_rv> loops = s.get_loops(tile);
  const loop_rv k = loops.back(), j = loops[loops.size() - 2], i = loops[loops.size() - 3];
  const ir::expr steps = s.get(k).extent;
  if (!ir::is_int(steps) || ir::as_int(steps) % terms_of_groups != 0) {
    s = otherwise;
    return;
  }
  s.annotate(s.get_block("root"), ir::warps_note, static_cast<int>(ir::warps_of_group));
  const auto is = s.split(i, choices.perfect_tile(s, i, 2, rule.rows));
  const auto js = s.split(j, choices.perfect_tile(s, j, 2, rule.columns));
  const auto ks = s.split(k, std::vector<factor>{infer, terms_of_groups});
  std::vector<loop_rv> grid(loops.begin(), loops.end() - 3);  // batches
  grid.insert(grid.end(), {is[0], js[0], is[1], js[1]});
  std::vector<loop_rv> order = grid;
  order.insert(order.end(), {is[2], js[2], ks[0], ks[1], is[3], js[3]});
  s.reorder(order);
  loop_rv blocks = s.fuse(grid);
  const ir::expr all = s.get(blocks).extent;
  const std::int64_t lasting = rule.persistent && where.gpu && ir::is_int(all)
                                   ? lasting_blocks(ir::as_int(all), where.gpu->multiprocessors)
                                   : 0;
  if (lasting > 0) {
    const auto [round, one] = s.split(blocks, {infer, static_cast<int>(lasting)});
    s.reorder(one, round);
    blocks = one;
  }
  s.bind(blocks, "blockIdx.x");
  const loop_rv groups = s.fuse(is[2], js[2]);
  s.bind(groups, "threadIdx.y");
  s.annotate(tile, "meta_schedule.thread_extent_low_inclusive", rule.warp_size);
  s.annotate(tile, "meta_schedule.thread_extent_high_inclusive", rule.max_threads_per_block);
  constexpr int widest = 16;  // bytes
  const int ahead = std::max(rule.background, 1);
  const block_rv sums = s.write_at(groups, tile, 0, "wgmma.accumulator");
  block_rv store = sums;
  if (rule.tensor_stores) {
    take_epilogue(s, s.get(sums).block->name);  // the copy engine computes nothing
    try {
      store = s.write_at(groups, sums, 0, "shared.dyn");
    } catch (const schedule_error&) {  // sums behind the end of a padded product are in no box
      s = otherwise;
      return;
    }
    s.annotate(store, ir::tensor_copy_note, 1);
  } else {
    if (rule.staged) {
      store = s.write_at(groups, sums, 0, "shared.dyn");
      spread_rows(s, sums);
    }
    take_epilogue(s, s.get(store).block->name);
  }
  s.annotate(store, "vector_bytes", widest);
  for (const int operand : {0, 1}) {
    const block_rv copy = s.read_at(ks[0], tile, operand, "shared.dyn");
    s.annotate(copy, "vector_bytes", widest);
    bring_operand(s, copy, ahead, rule.tensor_copies);
  }
  using list = ir::attr::list;
  s.annotate(ks[0], "software_pipeline_stage", list{0, 0, ahead});
  s.annotate(ks[0], "software_pipeline_order", list{0, 1, 2});
  s.annotate(ks[0], "software_pipeline_async_stages", list{0});
  if (rule.producer && rule.tensor_copies) s.annotate(ks[0], ir::producer_note, 1);
}

}  // namespace tilewright::space::detail
