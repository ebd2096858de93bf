#pragma once

#include <tilewright/impl/pass/scalar_function.hpp>
#include <tilewright/pass/compact_buffers.hpp>
#include <tilewright/pass/gpu/distribute_vthreads.hpp>
#include <tilewright/pass/gpu/lower_gpu.hpp>
#include <tilewright/pass/gpu/pipeline_loops.hpp>
#include <tilewright/pass/gpu/place_barriers.hpp>
#include <tilewright/pass/gpu/plan_shared_memory.hpp>
#include <tilewright/pass/gpu/reduce_across_threads.hpp>
#include <tilewright/pass/gpu/spread_copies.hpp>
#include <tilewright/pass/gpu/spread_fragments.hpp>
#include <tilewright/pass/gpu/swizzle_shared.hpp>
#include <tilewright/pass/gpu/unify_threads.hpp>
#include <tilewright/pass/lower_blocks.hpp>
#include <tilewright/pass/simplify_loops.hpp>
#include <tilewright/target/gpu.hpp>

namespace tilewright::pass {
namespace detail::gpu_passes {

using function_pass = ir::function (*)(const ir::function&);

inline ir::function shuffled_reductions(const ir::function& f) { return reduce_across_threads(f); }
inline ir::function simplified(const ir::function& f) { return simplify_loops(f); }

/// What is done to a function on its way to kernels, in order.
inline constexpr function_pass all[] = {
    &scalar_function,
    // loops instead of blocks; what warps and blocks do together goes to their threads
    &spread_copies, &lower_blocks, &simplified, &spread_fragments, &simplified,
    // one nest of threads for each kernel, around buffers as small as they can be
    &shuffled_reductions, &distribute_vthreads, &unify_threads, &simplified, &compact_buffers,
    &simplified,
    // iterations overlap before their memory is placed, and are kept apart after it
    &pipeline_loops, &simplified, &plan_shared_memory, &place_barriers, &simplified,
    // indices that nothing is known about any more
    &swizzle_shared, &simplified};

}  // namespace detail::gpu_passes

TILEWRIGHT_INLINE ir::function lower(const ir::function& f, const target::gpu&) {
  ir::function out = f;
  for (const detail::gpu_passes::function_pass run : detail::gpu_passes::all) out = run(out);
  out.attrs["tilewright.lowered"] = 1;
  return out;
}

}  // namespace tilewright::pass
