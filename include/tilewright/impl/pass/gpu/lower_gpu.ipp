#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/pass/gpu/groups/group_product.hpp>
#include <tilewright/impl/pass/gpu/shorten_loops.hpp>
#include <tilewright/impl/pass/scalar_function.hpp>
#include <tilewright/impl/target/warp_groups.hpp>
#include <tilewright/pass/compact_buffers.hpp>
#include <tilewright/pass/gpu/distribute_vthreads.hpp>
#include <tilewright/pass/gpu/fuse_kernels.hpp>
#include <tilewright/pass/gpu/gather_additions.hpp>
#include <tilewright/pass/gpu/guard_vectors.hpp>
#include <tilewright/pass/gpu/lower_gpu.hpp>
#include <tilewright/pass/gpu/narrow_indices.hpp>
#include <tilewright/pass/gpu/order_products.hpp>
#include <tilewright/pass/gpu/pipeline_loops.hpp>
#include <tilewright/pass/gpu/place_barriers.hpp>
#include <tilewright/pass/gpu/plan_shared_memory.hpp>
#include <tilewright/pass/gpu/reduce_across_threads.hpp>
#include <tilewright/pass/gpu/spread_copies.hpp>
#include <tilewright/pass/gpu/spread_fragments.hpp>
#include <tilewright/pass/gpu/swizzle_shared.hpp>
#include <tilewright/pass/gpu/tensor/copy_tensors.hpp>
#include <tilewright/pass/gpu/tensor/specialize_warps.hpp>
#include <tilewright/pass/gpu/unify_threads.hpp>
#include <tilewright/pass/gpu/unroll_registers.hpp>
#include <tilewright/pass/lower_blocks.hpp>
#include <tilewright/pass/pipeline.hpp>
#include <tilewright/pass/simplify_loops.hpp>
#include <tilewright/pass/skip_identities.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/fork_gate.hpp>
#include <tilewright/target/gpu.hpp>

namespace tilewright::pass {
namespace detail::gpu_passes {

/// A pass that asks nothing of the target.
template <ir::function (*Pass)(const ir::function&)>
ir::function on_any(const ir::function& f, const target::machine&) {
  return Pass(f);
}

inline ir::function shuffled_reductions(const ir::function& f) { return reduce_across_threads(f); }
inline ir::function in_registers(const ir::function& f) { return unroll_registers(f); }
inline ir::function products_in_order(const ir::function& f, const target::machine& where) {
  if (groups::has_product(f.body) && !target::multiplies_in_groups(*where.gpu))
    throw build_error("warp groups multiply matrices on sm_90a, and kernels are made for " +
                      where.gpu->architecture + "; choose wmma instead of wgmma");
  return order_products(f);
}
/// The copy engine of Hopper; copies that are left to it are made by all threads elsewhere.
inline ir::function joint_copies(const ir::function& f, const target::machine& where) {
  constexpr int hopper = 90;
  return spread_copies(f, where.gpu->compute_capability >= hopper);
}
inline ir::function in_one_launch(const ir::function& f, const target::machine& where) {
  return fuse_kernels(f, where.gpu->threads_per_block);
}

/// What is done to a function on its way to kernels, in order; a pass that comes again gets a number.
inline std::vector<named_pass> standard() {
  const named_pass simplified{"simplify_loops", &on_any<&simplify_loops>};
  std::vector<named_pass> out{
      {"scalar_function", &on_any<&scalar_function>},
      {"note_fusion", &on_any<&note_fusion>},
      // loops instead of blocks; what warps and blocks do together goes to their threads
      {"spread_copies", &joint_copies},
      {"lower_blocks", &on_any<&lower_blocks>},
      {"skip_identities", &on_any<&skip_identities>},
      simplified,
      {"narrow_indices", &on_any<&narrow_indices>},
      {"spread_fragments", &on_any<&spread_fragments>},
      simplified,
      // one nest of threads for each kernel, around buffers as small as they can be
      {"reduce_across_threads", &on_any<&shuffled_reductions>},
      {"distribute_vthreads", &on_any<&distribute_vthreads>},
      {"unify_threads", &on_any<&unify_threads>},
      simplified,
      {"gather_additions", &on_any<&gather_additions>},
      {"compact_buffers", &on_any<&compact_buffers>},
      simplified,
      {"guard_vectors", &on_any<&guard_vectors>},
      {"copy_tensors", &on_any<&copy_tensors>},
      {"shorten_loops", &on_any<&shorten_loops>},
      // iterations overlap before their memory is placed, and are kept apart after it
      {"pipeline_loops", &on_any<&pipeline_loops>},
      simplified,
      {"plan_shared_memory", &on_any<&plan_shared_memory>},
      {"place_barriers", &on_any<&place_barriers>},
      {"order_products", &products_in_order},
      {"specialize_warps", &on_any<&specialize_warps>},
      simplified,
      // what is written out, where barriers are known
      {"unroll_registers", &on_any<&in_registers>},
      // indices that nothing is known about any more
      {"swizzle_shared", &on_any<&swizzle_shared>},
      {"fuse_kernels", &in_one_launch},
      simplified};
  std::map<std::string, int> times;
  for (named_pass& p : out)
    if (const int n = ++times[p.name]; n > 1) p.name += "." + std::to_string(n);
  return out;
}

inline const pipeline& list() {
  const support::fork_pass inside;
  static const pipeline& p =
      *new pipeline(pipeline::standard_gpu());  // outlives static destruction
  return p;
}

}  // namespace detail::gpu_passes

TILEWRIGHT_INLINE pipeline pipeline::standard_gpu() {
  pipeline out;
  out.passes_ = detail::gpu_passes::standard();
  out.for_gpu_ = true;
  return out;
}

TILEWRIGHT_INLINE ir::function lower(const ir::function& f, const target::gpu& target) {
  return detail::gpu_passes::list().run(f, target);
}

}  // namespace tilewright::pass
