#pragma once

#include <string>
#include <vector>

#include <tilewright/impl/space/gpu_rules.hpp>
#include <tilewright/space/compose.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/space/gpu.hpp>
#include <tilewright/space/metaschedule.hpp>
#include <tilewright/space/modules/add_rfactor.hpp>
#include <tilewright/space/modules/apply_custom_rule.hpp>
#include <tilewright/space/modules/auto_inline.hpp>
#include <tilewright/space/modules/inline_constant_scalars.hpp>
#include <tilewright/space/modules/multi_level_tiling_with_intrinsic.hpp>
#include <tilewright/space/modules/parallel_vectorize_unroll.hpp>
#include <tilewright/space/modules/random_compute_location.hpp>
#include <tilewright/space/modules/use_tensor_core.hpp>
#include <tilewright/space/postproc/disallow_dynamic_loop.hpp>
#include <tilewright/space/postproc/rewrite_layout.hpp>
#include <tilewright/space/postproc/rewrite_parallel_vectorize_unroll.hpp>
#include <tilewright/space/postproc/rewrite_reduction_block.hpp>
#include <tilewright/space/postproc/rewrite_tensorize.hpp>
#include <tilewright/support/kind_table.hpp>

namespace tilewright::space {
namespace detail {

inline auto first_rules() {
  return each_block(apply_custom_rule{}) >> each_block(inline_constant_scalars{}) >>
         each_block(auto_inline{}) >> post_order(when(&needs_rfactor, module(&add_rfactor)));
}
inline auto last_rules() {
  return each_block(cpu_tiling()) >> on<"root">(module(parallel_vectorize_unroll{})) >>
         each_block(random_compute_location{});
}
inline std::vector<postproc> cpu_postprocs(bool tensorize) {
  std::vector<postproc> out{disallow_dynamic_loop{}, rewrite_parallel_vectorize_unroll{},
                            rewrite_reduction_block{}};
  if (tensorize) out.push_back(rewrite_tensorize{true});
  out.push_back(rewrite_layout{});
  return out;
}
inline auto around_intrinsic(const char* feature, const char* intrinsic) {
  multi_level_tiling_with_intrinsic rule;
  rule.intrinsic = intrinsic;
  return post_order(for_target(feature, module(std::move(rule))));
}

}  // namespace detail

TILEWRIGHT_INLINE design_space metaschedule_cpu() {
  return design_space(detail::first_rules() >> detail::last_rules())
      .with(detail::cpu_postprocs(false));
}

TILEWRIGHT_INLINE design_space metaschedule_cpu_intrinsics() {
  // a block that one of them has taken is tiled, and the later ones leave it alone
  return design_space(
             detail::first_rules() >> detail::around_intrinsic("avx512vnni", "dot_16x4_vnni") >>
             detail::around_intrinsic("avxvnni", "dot_8x4_vnni") >>
             detail::around_intrinsic("avx512bw", "dot_16x4_avx512") >>
             detail::around_intrinsic("avx512bf16", "dot_16x2_bf16") >> detail::last_rules())
      .with(detail::cpu_postprocs(true));
}

TILEWRIGHT_INLINE design_space metaschedule_cuda(int warp_size) {
  detail::gpu_rules list;
  list.tiling.warp_size = warp_size;
  return list.space().with(detail::gpu_postprocs());
}

TILEWRIGHT_INLINE design_space metaschedule_cuda_tensor_core(int warp_size) {
  use_tensor_core tensor_cores;
  tensor_cores.warp_size = warp_size;
  detail::gpu_rules list;
  list.tiling.warp_size = warp_size;
  return list.space(tensor_cores).with(detail::gpu_postprocs(true));
}

namespace detail {

/// Lives until the process ends: an op that a static destructor calls may still tune.
inline support::kind_table<named_space>& space_table() {
  static auto* const out = new support::kind_table<named_space>(
      "space",
      {{"default_cpu",
        "several families of register tiles, staging and layouts; what is tuned with "
        "unless said otherwise",
        [] { return default_cpu(); }},
       {"default_gpu",
        "tiles in shared memory and registers, reductions across threads, within the "
        "limits of the GPU",
        [] { return default_gpu(); }, true},
       {"metaschedule_cpu", "the rules of the MetaSchedule paper for CPUs, SSRSRS tiles",
        &metaschedule_cpu},
       {"metaschedule_cpu_intrinsics",
        "the same around dot products of bytes (VNNI, AVX-512) and brain floats",
        &metaschedule_cpu_intrinsics},
       {"metaschedule_cuda", "the rules of the MetaSchedule paper for NVIDIA GPUs, SSSRRSRS tiles",
        [] { return metaschedule_cuda(); }, true},
       {"metaschedule_cuda_tensor_core",
        "the same with products of 16-bit floats and bytes on tensor cores",
        [] { return metaschedule_cuda_tensor_core(); }, true}});
  return *out;
}

}  // namespace detail

TILEWRIGHT_INLINE std::vector<named_space> named_spaces() { return detail::space_table().all(); }

TILEWRIGHT_INLINE void add_named_space(const named_space& s) { detail::space_table().add(s); }

TILEWRIGHT_INLINE design_space find_space(std::string_view name) {
  return detail::space_table().find(name).make();
}

}  // namespace tilewright::space
