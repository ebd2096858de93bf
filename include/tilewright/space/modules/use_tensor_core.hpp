// Module: matrix products on tensor cores (MetaSchedule, section 6.3 and appendix A.3:
// Use-Tensor-Core).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/space/chooser.hpp>
#include <tilewright/space/space.hpp>

namespace tilewright::space {

/// Gives a product or a convolution the form of a wmma intrinsic, and tiles it over blocks and warps:
/// ```
/// i, j, k  ->  i0 j0 i1 j1 (blockIdx.x) | i2 j2 (threadIdx.y) | k0 | k1 | i3 j3 | k2 | i4 j4
/// ```
/// Blocks that begin one after the other are neighbours in i1 and j1, and share operands in the cache.
/// Below k0 both operands are copied into shared memory by all warps, below k1 into the fragments of
/// each warp; sums stay in fragments until the reduction is done. The copies that gave operands and
/// result their form go into these copies where nothing is padded. Loops k0 and k1 are annotated
/// as software pipelines, copies with the bytes of their vectors, drawn.
///
/// With an intrinsic of warp groups (intrin/wgmma.hpp), on sm_90a alone, a thread of the schedule is a group, which reads
/// operands from shared memory; tiles are those of `rows` and `columns`, three factors each, and 64 terms a step:
/// ```
/// i, j, k  ->  i0 j0 i1 j1 (blockIdx.x) | i2 j2 (threadIdx.y) | k0 | k1 i3 j3
/// ```
///
/// The intrinsic is the first of the list that fits, one that takes the second operand as it lies
/// before others. Where none does, nothing happens.
struct use_tensor_core {
  std::vector<std::string> intrinsics{
      "wmma_sync_16x16x16_f16f16f32",   "wmma_sync_16x16x16_f16f16f32_trans",
      "wmma_sync_16x16x16_f16f16f16",   "wmma_sync_16x16x16_f16f16f16_trans",
      "wmma_sync_16x16x16_bf16bf16f32", "wmma_sync_16x16x16_bf16bf16f32_trans",
      "wmma_sync_16x16x32_s8s8s32",     "wmma_sync_16x16x32_s8s8s32_trans",
      "wmma_sync_16x16x16_s8s8s32",     "wmma_sync_16x16x16_s8s8s32_trans"};
  int warp_size = 32;
  int max_threads_per_block = 1024;
  /// Steps of k0 whose copies are made in the background while another one is multiplied. 0: what the next
  /// step needs waits in registers instead, as in the paper.
  int background = 0;
  /// Results go through shared memory, from where all warps store them together in whole rows. Otherwise
  /// each lane stores what it has, two elements of a row side by side.
  bool staged = false;
  /// Of copies in the background: a step begins with the products of the last fragments of the one before it,
  /// beside which its first fragments are loaded. Otherwise it begins by waiting for these.
  bool carried = false;
  /// Of copies in the background: where small tiles are one to a multiprocessor at most, what runs unmeasured has
  /// steps of four tiles, and one step more than `background` on its way.
  bool deep = false;
  /// Of copies in the background: the device's copy engine makes them where it has one and operands allow it
  /// (annotation `tilewright.tensor_copy`). No device has timed this.
  bool tensor_copies = false;
  /// Extents are padded to whole tiles of what runs unmeasured, smaller ones where much would be padding: the 257 tiles of
  /// 4097 have no divisor. Otherwise they are padded to tiles of the intrinsic.
  bool whole = false;
  /// Of such copies for warp groups: one group of warps more asks for them (annotation `tilewright.producer`), and a step
  /// has no barrier of the block. No device has timed this.
  bool producer = false;
  /// Of products by warp groups: results go through shared memory, from where the copy engine stores them. No device has
  /// timed this.
  bool tensor_stores = false;
  /// Of products by warp groups: blocks of which each multiprocessor has one make tiles one after the other, where the
  /// tiles are a multiple of as many blocks as nearly all multiprocessors. No device has timed this.
  bool persistent = false;
  /// What runs unmeasured, i1 to i4, j1 to j4, and k1 and k2, in tiles: the greatest divisors up to these, and
  /// smaller ones where multiprocessors would have nothing to do.
  std::vector<std::int64_t> rows{8, 2, 4, 1}, columns{1, 4, 4, 1}, steps{2, 1};

  void operator()(schedule& s, const std::string& block, const context& where,
                  chooser& choices) const;
};

}  // namespace tilewright::space
