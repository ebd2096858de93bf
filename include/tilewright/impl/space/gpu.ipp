#pragma once

#include <tilewright/impl/space/gpu_rules.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/space/gpu.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/gpu.hpp>

namespace tilewright::space {
namespace detail {

/// The rules for one device; of equally likely sizes the first one is what runs unmeasured.
inline design_space rules_for(const target::gpu& gpu) {
  gpu_rules list;
  list.tiling.warp_size = gpu.warp_size;
  list.tiling.max_threads_per_block = gpu.threads_per_block;
  list.tiling.vector_load_lengths = {4, 1, 2, 8, 16};
  list.reduction.thread_extents = {32, 64, 128, 256, 512, 16, 8, 4};
  list.reduction.max_threads_per_block = gpu.threads_per_block;
  list.binding.thread_extents = {256, 32, 64, 128, 512, 1024};
  list.binding.max_threads_per_block = gpu.threads_per_block;
  list.binding.max_threadblocks = gpu.grid_x;
  list.binding.vector_bytes = 16;
  return list.space();
}

}  // namespace detail

TILEWRIGHT_INLINE design_space default_gpu() {
  return design_space(design_space::function([](schedule s, const context& where) {
           if (!where.gpu)
             throw argument_error(
                 "default_gpu makes schedules for GPUs, and the target is none; write default_cpu");
           return detail::rules_for(*where.gpu).grow(std::move(s), where);
         }))
      .with(detail::gpu_postprocs());
}

TILEWRIGHT_INLINE design_space default_space(const target::machine& where) {
  return where.gpu ? default_gpu() : default_cpu();
}

}  // namespace tilewright::space
