#pragma once

#include <tilewright/impl/pass/scalar_function.hpp>
#include <tilewright/pass/compact_buffers.hpp>
#include <tilewright/pass/gpu/distribute_vthreads.hpp>
#include <tilewright/pass/gpu/lower_gpu.hpp>
#include <tilewright/pass/gpu/place_barriers.hpp>
#include <tilewright/pass/gpu/plan_shared_memory.hpp>
#include <tilewright/pass/gpu/reduce_across_threads.hpp>
#include <tilewright/pass/gpu/spread_copies.hpp>
#include <tilewright/pass/gpu/spread_fragments.hpp>
#include <tilewright/pass/gpu/unify_threads.hpp>
#include <tilewright/pass/lower_blocks.hpp>
#include <tilewright/pass/simplify_loops.hpp>
#include <tilewright/target/gpu.hpp>

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::function lower(const ir::function& f, const target::gpu&) {
  ir::function out = simplify_loops(lower_blocks(spread_copies(detail::scalar_function(f))));
  out = simplify_loops(spread_fragments(out));
  out = distribute_vthreads(reduce_across_threads(out));
  out = simplify_loops(unify_threads(out));
  out = simplify_loops(compact_buffers(out));
  out = simplify_loops(place_barriers(plan_shared_memory(out)));
  out.attrs["tilewright.lowered"] = 1;
  return out;
}

}  // namespace tilewright::pass
