// Module: multi-level tiling in a structure of spatial and reduction tiles (MetaSchedule, section
// 3.2; TVM: MultiLevelTiling). For CPUs, register_tiling.hpp knows more about the innermost tile.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <tilewright/space/chooser.hpp>
#include <tilewright/space/space.hpp>

namespace tilewright::space {

/// Whether something is staged through a buffer of its own: never, as a structural choice, always.
enum class staging : std::uint8_t { none, may, must };

/// How a tile's operands or results are staged.
struct reuse {
  staging wish = staging::none;
  /// Where: below the last loop of the tile at this position of the structure, from 1. Several are
  /// a structural choice.
  std::vector<int> levels;
  std::string scope = "global";
  /// Results alone: as a structural choice they go on through a buffer of this scope, that of all threads
  /// of a block, which store it together in the vectors of `vector_load_lengths`. Empty: never.
  std::string through = {};
};

/// Splits every loop of the block into tiles, one per letter of its kind in the structure (S:
/// spatial, R: reduction), and orders them position by position.
/// ```
/// "SSRSRS"   i, j, k  ->  i0 j0 | i1 j1 | k0 | i2 j2 | k1 | i3 j3
/// ```
/// Then, as asked:
/// 1. The tiles at the first positions are fused, one loop a position, and bound to `tile_binds`.
/// 2. Results: the block writes a tile of its own, copied out below a level of `reuse_write`. Where
///    the only consumer already reads element by element and has no other producer, it moves there
///    instead of a copy. An annotation `meta_schedule.write_cache_level` of the block, a list,
///    replaces the levels and the wish by `must`.
/// 3. Operands: each is copied below a level of `reuse_read`; the copy's loops are fused and, with
///    `vector_load_lengths`, it is annotated `meta_schedule.cooperative_fetch` with the length of
///    its vectors, for the threads to share.
///
/// Acts where `filter` says so, by default on what `shares_operands`, and annotates the block with
/// its structure. Structural choices: the levels, and with `may` none of them. Sizes are drawn.
/// Requires: 1. the structure consists of S and R, and has tiles for each kind of the block's loops;
/// 2. the iteration variables are spatial or reductions, bound one to one; 3. levels are positions
/// in the structure.
/// @throws schedule_error with the requirement, or from a primitive
struct multi_level_tiling {
  std::string structure = "SSRSRS";
  std::vector<std::string> tile_binds;  // "blockIdx.x", ...
  int max_innermost_factor = 64;        // -1: no limit
  bool dividing = true;  // sizes divide the extents; otherwise the last tiles are cut
  std::vector<std::int64_t> vector_load_lengths;  // elements
  reuse reuse_read;
  reuse reuse_write;
  std::function<bool(const schedule&, const std::string&)> filter;
  /// With a tile bound to threadIdx, the block is annotated with the threads that it wants at
  /// least and may have at most.
  int warp_size = 32;
  int max_threads_per_block = 1024;
  /// How many steps of the outermost reduction tiles operands are copied ahead, in the background of what is
  /// done with those of one step (pass/gpu/pipeline_loops.hpp); one is drawn, 0: none. Empty: never, nor where
  /// an operand is computed, and not copied or padded.
  std::vector<std::int64_t> steps_ahead;
  /// How many blocks shall be on a multiprocessor at once, which limits the registers of a thread; one is drawn,
  /// 0: as many as come of it. Empty: nothing is said.
  std::vector<std::int64_t> resident_blocks;
  /// Of products, blocks with one reduction of several terms: a warp has rows and columns of threads, and blocks
  /// that begin one after the other stand above each other in groups, and share columns. Both sizes are drawn.
  /// Threads of a window, of several reductions, stand in warps alike where each has several results of a row.
  bool product_order = false;
  /// Bytes behind each row of an operand in shared memory whose rows are terms of a product's reduction, or 32 bytes
  /// and more of a window's, so that threads which read several rows meet in no bank; one is drawn, and
  /// rewrite_cooperative_fetch applies it. Empty: none.
  std::vector<std::int64_t> row_padding;
  /// Of the device, for the sizes that are chosen without measuring: results and threads by an estimate of
  /// how much is computed with what is loaded and how much of the device is occupied, up to 8 x 8 results
  /// a thread; as many steps of the reduction between two barriers as operands fit.
  int multiprocessors = 108;
  std::int64_t staged_bytes = 48 << 10;  // of operands in shared memory, of a block

  void operator()(schedule& s, const std::string& block, const context& where,
                  chooser& choices) const;
};

/// SSRSRS; results may be staged below the outer two tiles.
multi_level_tiling cpu_tiling();
/// SSSRRSRS on blocks, virtual threads and threads; operands staged in shared memory, results in
/// registers.
multi_level_tiling gpu_tiling();

}  // namespace tilewright::space
