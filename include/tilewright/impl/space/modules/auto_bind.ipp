#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include <tilewright/impl/space/modules/nest.hpp>
#include <tilewright/ir/copy_notes.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/space/access_pattern.hpp>
#include <tilewright/space/modules/auto_bind.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::space {
namespace detail::binding {

/// The loops [first, first + count) in one; of one iteration, before loop `first`, when count is 0.
inline loop_rv in_one(schedule& s, block_rv block, std::size_t first, std::size_t count) {
  const std::vector<loop_rv> loops = s.get_loops(block);
  if (count == 0)
    return first < loops.size() ? s.add_unit_loop(loops[first]) : s.add_unit_loop(block);
  const auto begin = loops.begin() + static_cast<std::ptrdiff_t>(first);
  return count == 1
             ? *begin
             : s.fuse(std::vector<loop_rv>(begin, begin + static_cast<std::ptrdiff_t>(count)));
}

struct limits {
  std::int64_t blocks, threads;
  const thread_sizes& sizes;

  factor threads_for(const schedule& s, loop_rv loop) const {
    const ir::expr& extent = s.get(loop).extent;
    return sizes.threads(ir::is_int(extent) ? std::min(extent->integer, threads) : threads);
  }
};

/// Whole vectors in place of elements, where the block asks for them.
inline loop_rv in_vectors(schedule& s, loop_rv all, const limits& most) {
  const ir::expr extent = s.get(all).extent;
  if (!most.sizes.lanes || !ir::is_int(extent)) return all;
  const std::optional<factor> lanes = most.sizes.lanes(extent->integer);
  if (!lanes) return all;
  const auto [vectors, lane] = s.split(all, {infer, *lanes});
  s.vectorize(lane);
  return vectors;
}

inline void bind_blocks_and_threads(schedule& s, loop_rv all, const limits& most) {
  const ir::expr extent = s.get(all).extent;
  if (ir::is_int(extent) && extent->integer <= most.blocks * most.threads) {
    const auto [block, thread] = s.split(all, {infer, most.threads_for(s, all)});
    s.bind(block, "blockIdx.x");
    s.bind(thread, "threadIdx.x");
    return;
  }
  const auto [serial, block, thread] = s.split(all, {infer, most.blocks, most.threads});
  s.reorder(block, thread, serial);
  s.bind(block, "blockIdx.x");
  s.bind(thread, "threadIdx.x");
}

/// Whether all threads of a block make the copy, as many as there will be.
inline bool is_shared_out(const schedule& s, const std::string& name) {
  return named_block(s, name).block->annotations.count(ir::cooperative_fetch_note) > 0;
}

inline std::optional<std::size_t> first_bound(const std::vector<nest_loop>& nest,
                                              const std::string& axes) {
  for (std::size_t i = 0; i < nest.size(); ++i)
    if (nest[i].bound_to(axes)) return i;
  return std::nullopt;
}

/// Bytes of the widest element that a vector of the block's last elements meets side by side: vectors that do not divide the
/// last extent go on with those before it.
inline std::int64_t widest_element(const ir::block_node& block, std::int64_t vector_bytes) {
  std::vector<ir::var> moved;
  for (auto i = block.iters.rbegin(); i != block.iters.rend(); ++i) {
    moved.push_back(i->var);
    if (ir::is_int(i->dom.extent) && i->dom.extent->integer % vector_bytes == 0) break;
  }
  std::int64_t out = bytes(block.writes[0].buffer->type);
  for (const auto* regions : {&block.reads, &block.writes})
    for (const ir::buffer_region& r : *regions)
      if (support::any(r.box, [&](const ir::range& dim) {
            return support::any(moved, [&](const ir::var& v) { return ir::uses_var(dim.min, v); });
          }))
        out = std::max<std::int64_t>(out, bytes(r.buffer->type));
  return out;
}

}  // namespace detail::binding

TILEWRIGHT_INLINE void bind_to_threads(schedule& s, const std::string& name,
                                       std::int64_t max_threadblocks,
                                       std::int64_t max_threads_per_block,
                                       const thread_sizes& sizes) {
  namespace binding = detail::binding;
  if (!detail::in_root_scope(s, name) || is_tiled(s, name) ||
      detail::binding::is_shared_out(s, name))
    return;
  const std::vector<detail::nest_loop> nest = detail::nest_of(s, name);
  const std::optional<std::size_t> in_blocks = binding::first_bound(nest, "blockIdx");
  const std::optional<std::size_t> in_threads = binding::first_bound(nest, "threadIdx");
  if (in_blocks && in_threads) return;
  const binding::limits most{max_threadblocks, max_threads_per_block, sizes};
  const block_rv block = s.get_block(name);
  if (in_threads) {
    const std::size_t count = std::min(detail::spatial_prefix(nest), *in_threads);
    return s.bind(binding::in_one(s, block, 0, count), "blockIdx.x");
  }
  if (!in_blocks) {
    const std::size_t count = detail::spatial_prefix(nest);
    loop_rv all = binding::in_one(s, block, 0, count);
    if (count > 0 && count == nest.size() && !nest.back().branches())
      all = binding::in_vectors(s, all, most);
    return binding::bind_blocks_and_threads(s, all, most);
  }
  const std::size_t inside = *in_blocks + 1;
  const loop_rv rest = binding::in_one(s, block, inside, detail::spatial_prefix(nest, inside));
  const auto [serial, thread] = s.split(rest, {infer, most.threads_for(s, rest)});
  s.bind(thread, "threadIdx.x");
}

TILEWRIGHT_INLINE void auto_bind::operator()(schedule& s, const std::string& name,
                                             const context& /*where*/, chooser& choices) const {
  const auto one_of = [&](const std::vector<std::int64_t>& sizes) -> factor {
    if (sizes.size() == 1) return sizes[0];
    return choices.categorical(s, sizes, std::vector<double>(sizes.size(), 1.0));
  };
  thread_sizes sizes;
  sizes.threads = [&](std::int64_t most) -> factor {
    std::vector<std::int64_t> fitting;
    for (const std::int64_t n : thread_extents)
      if (n <= most) fitting.push_back(n);
    return fitting.empty() ? factor(most) : one_of(fitting);
  };
  if (vector_bytes > 0)
    sizes.lanes = [&](std::int64_t extent) -> std::optional<factor> {
      const std::int64_t element =
          detail::binding::widest_element(*named_block(s, name).block, vector_bytes);
      std::vector<std::int64_t> fitting;
      for (std::int64_t n = vector_bytes / element; n > 0; n /= 2)
        if (extent % n == 0) fitting.push_back(n);
      if (fitting.size() < 2) return std::nullopt;
      return one_of(fitting);
    };
  bind_to_threads(s, name, max_threadblocks, max_threads_per_block, sizes);
}

}  // namespace tilewright::space
