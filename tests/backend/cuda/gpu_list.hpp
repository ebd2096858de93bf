// MetaSchedule's rules and post-processors for GPUs, on the kernels that the tests of rules schedule.
#pragma once

#include <string>
#include <vector>

#include <tilewright/search/candidate.hpp>
#include <tilewright/space/compose.hpp>
#include <tilewright/space/modules/auto_bind.hpp>
#include <tilewright/space/modules/auto_inline.hpp>
#include <tilewright/space/modules/cross_thread_reduction.hpp>
#include <tilewright/space/modules/inline_constant_scalars.hpp>
#include <tilewright/space/modules/multi_level_tiling.hpp>
#include <tilewright/space/modules/parallel_vectorize_unroll.hpp>
#include <tilewright/space/postproc/disallow_dynamic_loop.hpp>
#include <tilewright/space/postproc/rewrite_cooperative_fetch.hpp>
#include <tilewright/space/postproc/rewrite_parallel_vectorize_unroll.hpp>
#include <tilewright/space/postproc/rewrite_reduction_block.hpp>
#include <tilewright/space/postproc/rewrite_unbound_block.hpp>
#include <tilewright/space/postproc/verify_gpu_code.hpp>
#include <tilewright/target/cpu.hpp>

#include "space/kernels.hpp"

namespace gpu_list {

using namespace tilewright;

/// How the list treats what could be inlined: everything, the copies in shared memory that tiling
/// makes among it, or nothing.
enum class inlining { all, none };

inline space::design_space rules(inlining what) {
  using space::post_order, space::module;
  space::multi_level_tiling tiling = space::gpu_tiling();
  tiling.warp_size = 1;  // the kernels are small: any number of threads will do
  space::auto_inline into;
  into.into_producer = into.conditionals = true;
  into.injective_reads = into.ordered_reads = false;
  into.costly.clear();
  space::parallel_vectorize_unroll unroll;
  unroll.max_jobs_per_thread = unroll.max_vectorize_extent = -1;
  unroll.unroll.max_steps = {0, 16, 32, 64, 128, 256, 512, 1024};
  const auto first =
      post_order(module(tiling)) >> post_order(module(space::inline_constant_scalars{}));
  const auto last = post_order(module(space::cross_thread_reduction{})) >>
                    space::on<"root">(module(unroll)) >> post_order(module(space::auto_bind{}));
  const space::design_space list =
      what == inlining::all ? space::design_space(first >> post_order(module(into)) >> last)
                            : space::design_space(first >> last);
  return list.with({space::disallow_dynamic_loop{}, space::rewrite_cooperative_fetch{},
                    space::rewrite_unbound_block{}, space::rewrite_parallel_vectorize_unroll{},
                    space::rewrite_reduction_block{}, space::verify_gpu_code{}});
}

inline const space::context& machine() {
  static const target::cpu cpu = target::named("haswell");
  static const space::context where{&cpu, 1};
  return where;
}

/// Members of the list's sketches, finished, `count` of them.
inline std::vector<schedule> members(const ir::function& f, int count,
                                     inlining what = inlining::all, std::uint64_t first_seed = 1) {
  const space::design_space list = rules(what);
  const std::vector<schedule> sketches = list.sketches(f, machine(), 7);
  std::vector<schedule> out;
  for (std::uint64_t seed = first_seed; out.size() < static_cast<std::size_t>(count) &&
                                        seed < first_seed + 20 * static_cast<std::uint64_t>(count);
       ++seed) {
    const trace family = sketches[seed % sketches.size()].trace().without_decisions();
    auto member = search::replay(family, f, seed);
    if (!member) continue;
    try {
      list.finish(member->scheduled, machine());
    } catch (const schedule_error&) {
      continue;
    }
    out.push_back(member->scheduled);
  }
  return out;
}

}  // namespace gpu_list
