#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <variant>

#include <tilewright/impl/dependence/cover/footprint.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/ir/copy_notes.hpp>
#include <tilewright/ir/extents.hpp>
#include <tilewright/ir/kernel_notes.hpp>
#include <tilewright/ir/storage_scope.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/space/postproc/verify_gpu_code.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/gpu.hpp>

namespace tilewright::space {
namespace detail::device {

/// A block below the root that touches a buffer.
struct access {
  const primitive::child_block* child;
  const ir::buffer_region* region;
};

/// One dimension of what several accesses touch: offsets from the first one's lower end, which what
/// stands still around them keeps within constants.
class extent_of_union {
 public:
  void add(const primitive::span& s, const std::vector<const ir::loop_node*>& loops) {
    inside_ = std::max(inside_, width(s.within));
    if (!s.lo || !s.hi) return lose();
    if (!origin_) origin_ = s.lo;
    const arith::bounds low = primitive::range_of(primitive::difference(*s.lo, *origin_), loops);
    const arith::bounds high = primitive::range_of(primitive::difference(*s.hi, *origin_), loops);
    if (!low.bounded() || !high.bounded()) return lose();
    low_ = std::min(low_, low.lo);
    high_ = std::max(high_, high.hi);
  }
  std::int64_t get(std::int64_t whole) const {
    std::int64_t out = std::min(whole, inside_);
    if (known_) out = std::min(out, high_ - low_ + 1);
    return std::max<std::int64_t>(out, 1);
  }

 private:
  static std::int64_t width(const arith::bounds& b) {
    const bool finite = b.lo > std::numeric_limits<std::int64_t>::min() / 4 &&
                        b.hi < std::numeric_limits<std::int64_t>::max() / 4;
    return finite ? b.hi - b.lo + 1 : std::numeric_limits<std::int64_t>::max();
  }
  void lose() { known_ = false; }

  std::optional<arith::linear> origin_;
  std::int64_t low_ = 0, high_ = 0, inside_ = 0;
  bool known_ = true;
};

inline std::size_t shared_loops(const std::vector<access>& all) {
  std::size_t out = all[0].child->loops.size();
  for (const access& a : all) {
    std::size_t same = 0;
    while (same < out && same < a.child->loops.size() &&
           a.child->loops[same] == all[0].child->loops[same])
      ++same;
    out = std::min(out, same);
  }
  return out;
}

/// How many iterations of a loop that copies in the background keep contents of the buffer at once; its
/// stages at most, and one more where a warp group multiplies it, which goes on in the next iteration.
inline std::int64_t versions_of(const std::vector<access>& all) {
  std::int64_t out = 1;
  const bool in_groups = support::any(all, [](const access& a) {
    return support::any(a.child->block().writes, [](const ir::buffer_region& r) {
      return r.buffer->scope == "wgmma.accumulator";
    });
  });
  const std::int64_t more = in_groups ? 2 : 1;
  for (const access& a : all)
    for (const ir::loop_node* l : a.child->loops) {
      const ir::attr* stages = ir::find_note(l->annotations, "software_pipeline_stage");
      if (!stages || !ir::find_note(l->annotations, "software_pipeline_async_stages")) continue;
      if (const auto* list = std::get_if<ir::attr::list>(&stages->value))
        for (const ir::attr& stage : *list)
          if (const auto* n = std::get_if<std::int64_t>(&stage.value))
            out = std::max(
                out, ir::is_int(l->extent) ? std::min(*n + more, l->extent->integer) : *n + more);
    }
  return out;
}

/// Whether a region of the block moves with the loop.
inline bool moves_with(const primitive::child_block& child, const ir::loop_node& loop,
                       const ir::buffer_region& r) {
  for (const ir::range& side : r.box)
    for (std::size_t i = 0; i < child.realize->values.size(); ++i)
      if (ir::uses_var(child.realize->values[i], loop.var) &&
          ir::uses_var(side.min, child.block().iters[i].var))
        return true;
  return false;
}

/// How many virtual threads have elements of the buffer of their own: they are one thread, in whose
/// registers all of them lie.
inline std::int64_t virtual_copies(const std::vector<access>& all) {
  std::int64_t out = 1;
  const std::size_t shared = shared_loops(all);
  for (std::size_t l = 0; l < shared; ++l) {
    const ir::loop_node& loop = *all[0].child->loops[l];
    if (loop.thread_tag.rfind("vthread", 0) != 0 || !ir::is_int(loop.extent)) continue;
    if (support::any(all, [&](const access& a) { return moves_with(*a.child, loop, *a.region); }))
      out *= loop.extent->integer;
  }
  return out;
}

inline std::int64_t bytes_of(const ir::buffer& b, const std::vector<access>& all) {
  std::vector<extent_of_union> box(b->shape.size());
  const primitive::standing_loops standing{shared_loops(all), b->scope};
  for (const access& a : all) {
    const primitive::footprint f = primitive::touched({*a.child, *a.region}, standing);
    for (std::size_t d = 0; d < box.size(); ++d) box[d].add(f[d], a.child->loops);
  }
  std::int64_t out = bytes(b->type);
  if (ir::storage_rank(b->scope) == 1) out *= versions_of(all);
  if (ir::storage_rank(b->scope) > 1) out *= virtual_copies(all);
  for (std::size_t d = 0; d < box.size(); ++d)
    out *= box[d].get(ir::is_int(b->shape[d]) ? b->shape[d]->integer
                                              : std::numeric_limits<std::int64_t>::max() / 4096);
  return out;
}

inline std::int64_t note(const ir::block_node& b, const char* key) {
  const ir::attr* found = ir::find_note(b.annotations, key);
  const auto* n = found ? std::get_if<std::int64_t>(&found->value) : nullptr;
  return n ? *n : 0;
}

/// The widest element of a region of the block that moves with the loop.
inline std::int64_t widest_along(const primitive::child_block& child, const ir::loop_node& loop) {
  std::int64_t out = 0;
  for (const auto* regions : {&child.block().reads, &child.block().writes})
    for (const ir::buffer_region& r : *regions)
      if (moves_with(child, loop, r)) out = std::max<std::int64_t>(out, bytes(r.buffer->type));
  return out;
}

inline void add_loop(kernel_usage& k, const primitive::child_block& child,
                     const ir::loop_node& loop) {
  const std::int64_t extent =
      ir::is_int(loop.extent) ? loop.extent->integer : std::numeric_limits<std::int32_t>::max();
  if (loop.loop == ir::loop_kind::vectorized)
    k.vector_bytes = std::max(k.vector_bytes, extent * widest_along(child, loop));
  if (ir::find_note(loop.annotations, ir::producer_note)) k.has_producer = true;
  if (loop.loop != ir::loop_kind::thread_binding) return;
  if (loop.thread_tag.rfind("vthread", 0) == 0) {
    k.vthreads = std::max(k.vthreads, extent);
    return;
  }
  const auto [known, fresh] = k.extents.emplace(loop.thread_tag, extent);
  if (!fresh && known->second != extent) k.uneven = loop.thread_tag;
}

inline void add_block(kernel_usage& k, const primitive::child_block& child) {
  for (const ir::loop_node* loop : child.loops) add_loop(k, child, *loop);
  const std::int64_t low = note(child.block(), "meta_schedule.thread_extent_low_inclusive");
  const std::int64_t high = note(child.block(), "meta_schedule.thread_extent_high_inclusive");
  k.fewest_threads = std::max(k.fewest_threads, low);
  if (high > 0) k.most_threads = k.most_threads ? std::min(k.most_threads, high) : high;
}

inline bool has_threads(const primitive::child_block& child) {
  return support::any(
      child.loops, [](const ir::loop_node* l) { return l->loop == ir::loop_kind::thread_binding; });
}

/// Where a buffer is counted; null for memory of the whole device.
inline std::int64_t* counter(kernel_usage& k, const ir::buffer& b) {
  switch (ir::storage_rank(b->scope)) {
    case 1: return &k.shared_bytes;
    case 2:
    case 3: return &k.local_bytes;
    default: return nullptr;
  }
}

/// What a buffer takes of the memory that it is counted in: fragments lie spread over a warp or a warp group.
inline std::int64_t share_of(const ir::buffer& b, std::int64_t size) {
  constexpr std::int64_t lanes = 32, lanes_of_row = 4;
  if (b->scope == "wmma.rows") return size * lanes_of_row / lanes;
  if (b->scope.rfind("wgmma.", 0) == 0) return size / (lanes * ir::warps_of_group);
  return b->scope.rfind("wmma.", 0) == 0 ? size / lanes : size;
}

/// Memory that blocks within the block allocate. Fragments that steps of one block hand on are not there at once: what they
/// need is seen when the kernel is compiled.
inline void add_inner_buffers(kernel_usage& k, const ir::block_node& block) {
  ir::for_each_stmt(block.body, [&](const ir::stmt& s) {
    const ir::block_realize_node* inner = ir::as_realize(s);
    if (!inner) return;
    for (const ir::buffer& b : inner->block->alloc_buffers) {
      if (b->scope.rfind("wmma.", 0) == 0) continue;
      if (std::int64_t* to = counter(k, b)) *to += share_of(b, ir::bytes_of(b));
    }
  });
}

/// `asked`, with the device's limits where it leaves them open.
inline verify_gpu_code limits(verify_gpu_code asked, const target::gpu* gpu) {
  const auto set = [](std::int64_t& limit, std::int64_t otherwise) {
    if (limit == 0) limit = otherwise;
  };
  set(asked.threads_per_block, gpu ? gpu->threads_per_block : 1024);
  set(asked.shared_bytes, gpu ? gpu->shared_per_block : 48 << 10);
  set(asked.local_bytes, gpu ? std::int64_t{4} * gpu->registers_per_thread : 512 << 10);
  return asked;
}

inline void check(std::int64_t used, std::int64_t limit, int requirement, const char* what) {
  if (used > limit)
    primitive::refusal{"verify_gpu_code"}(requirement, {used, " ", what, ", the limit is ", limit});
}

}  // namespace detail::device

TILEWRIGHT_INLINE std::vector<kernel_usage> gpu_usage(const ir::function& f) {
  using namespace detail::device;
  const ir::block root = ir::root_block(f);
  const primitive::block_scope scope(*root);
  std::vector<kernel_usage> out;
  std::vector<std::size_t> kernel_of(scope.size(), scope.size());  // size: on no device
  const ir::loop_node* nest = nullptr;
  for (std::size_t c = 0; c < scope.size(); ++c) {
    if (!has_threads(scope[c])) continue;
    if (out.empty() || scope[c].loops[0] != nest) out.emplace_back();
    nest = scope[c].loops[0];
    kernel_of[c] = out.size() - 1;
    add_block(out.back(), scope[c]);
    add_inner_buffers(out.back(), scope[c].block());
  }
  const std::int64_t warps = ir::warps_of_thread(*root);
  for (kernel_usage& k : out) {
    for (const auto& [tag, extent] : k.extents)
      if (tag.rfind("threadIdx", 0) == 0) k.threads *= extent;
    // tiles of fragments: a thread of the schedule is a warp, or several
    if (warps > 0 && k.fewest_threads > 0 && !k.extents.count("threadIdx.x"))
      k.threads *= 32 * warps;
    if (k.has_producer && warps == ir::warps_of_group) k.threads += 32 * warps;
  }
  for (const ir::buffer& b : root->alloc_buffers) {
    std::map<std::size_t, std::vector<access>> by_kernel;
    for (std::size_t c = 0; c < scope.size(); ++c)
      for (const auto* regions : {&scope[c].block().reads, &scope[c].block().writes})
        for (const ir::buffer_region& r : *regions)
          if (r.buffer == b && kernel_of[c] < out.size())
            by_kernel[kernel_of[c]].push_back({&scope[c], &r});
    for (const auto& [kernel, accesses] : by_kernel)
      if (std::int64_t* to = counter(out[kernel], b)) *to += share_of(b, bytes_of(b, accesses));
  }
  return out;
}

TILEWRIGHT_INLINE void verify_gpu_code::operator()(schedule& s, const context& where) const {
  using detail::device::check;
  const verify_gpu_code most = detail::device::limits(*this, where.gpu);
  for (const kernel_usage& k : gpu_usage(s.function())) {
    if (!k.uneven.empty())
      primitive::refusal{"verify_gpu_code"}(1, {"loops on ", k.uneven, " differ in extent"});
    check(k.threads, most.threads_per_block, 2, "threads in a block");
    if (k.most_threads > 0)
      check(k.threads, k.most_threads, 3, "threads where a rule asks for few");
    check(k.fewest_threads, k.threads, 3, "threads are what a rule asks for");
    check(k.shared_bytes, most.shared_bytes, 4, "bytes of shared memory");
    check(k.local_bytes, most.local_bytes, 5, "bytes of local memory");
    check(k.vthreads, most.vthreads, 6, "virtual threads");
    check(k.vector_bytes, most.vector_bytes, 7, "bytes in a vector");
    if (where.gpu)
      check(k.threads * k.local_bytes / 4, where.gpu->registers_per_multiprocessor, 8,
            "registers of a block");
  }
}

}  // namespace tilewright::space
