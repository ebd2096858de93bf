// MetaSchedule's list of rules for NVIDIA GPUs, with what lists differ in as members.
#pragma once

#include <utility>
#include <vector>

#include <tilewright/impl/space/chains/joint_passes.hpp>
#include <tilewright/space/compose.hpp>
#include <tilewright/space/modules/apply_custom_rule.hpp>
#include <tilewright/space/modules/auto_bind.hpp>
#include <tilewright/space/modules/auto_inline.hpp>
#include <tilewright/space/modules/cross_thread_reduction.hpp>
#include <tilewright/space/modules/inline_constant_scalars.hpp>
#include <tilewright/space/modules/multi_level_tiling.hpp>
#include <tilewright/space/modules/parallel_vectorize_unroll.hpp>
#include <tilewright/space/modules/split_k.hpp>
#include <tilewright/space/postproc/disallow_dynamic_loop.hpp>
#include <tilewright/space/postproc/rewrite_cooperative_fetch.hpp>
#include <tilewright/space/postproc/rewrite_parallel_vectorize_unroll.hpp>
#include <tilewright/space/postproc/rewrite_reduction_block.hpp>
#include <tilewright/space/postproc/rewrite_tensorize.hpp>
#include <tilewright/space/postproc/rewrite_unbound_block.hpp>
#include <tilewright/space/postproc/verify_gpu_code.hpp>

namespace tilewright::space::detail {

/// A rule about each block.
template <class Rule>
auto each_block(Rule rule) {
  return post_order(module(std::move(rule)));
}

/// The rules in their order: tiles, inlining, reductions across threads, results in one pass, unrolling, and threads
/// for what is left.
struct gpu_rules {
  multi_level_tiling tiling = gpu_tiling();
  cross_thread_reduction reduction;
  joint_passes passes;
  auto_bind binding;
  std::vector<std::int64_t> unroll_steps{0, 16, 32, 64, 128, 256, 512, 1024};

  /// @param first  rules that come before the tiles, for what they can take
  template <class... First>
  design_space space(First... first) const {
    return (each_block(apply_custom_rule{}) >> ... >> each_block(first)) >> each_block(tiling) >>
           each_block(inline_constant_scalars{}) >> each_block(inlining()) >>
           each_block(sum_parts{binding}) >> each_block(reduction) >> on<"root">(module(passes)) >>
           on<"root">(module(unrolling())) >> each_block(binding);
  }

  /// Without tiles, for sums whose operands lie where data say: threads that share no operands share no copy of them.
  design_space without_tiles() const {
    return each_block(inline_constant_scalars{}) >> each_block(inlining()) >>
           each_block(reduction) >> on<"root">(module(passes)) >> on<"root">(module(unrolling())) >>
           each_block(binding);
  }

 private:
  static auto_inline inlining() {
    auto_inline out;
    out.into_producer = out.conditionals = true;
    out.injective_reads = out.ordered_reads = false;
    out.costly.clear();
    return out;
  }
  parallel_vectorize_unroll unrolling() const {
    parallel_vectorize_unroll out;
    out.max_jobs_per_thread = out.max_vectorize_extent = -1;
    out.unroll.max_steps = unroll_steps;
    return out;
  }
};

/// @param walks loops that run in order may have extents that are read from memory
inline std::vector<postproc> gpu_postprocs(bool tensorize = false, bool walks = false) {
  std::vector<postproc> out{disallow_dynamic_loop{walks}, rewrite_cooperative_fetch{},
                            rewrite_unbound_block{}, rewrite_parallel_vectorize_unroll{},
                            rewrite_reduction_block{}};
  if (tensorize) out.push_back(rewrite_tensorize{});
  out.push_back(verify_gpu_code{});
  return out;
}

}  // namespace tilewright::space::detail
