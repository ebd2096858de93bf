#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/schedule/primitive/reductions/algorithm_form.hpp>
#include <tilewright/impl/schedule/primitive/reductions/joined_reductions.hpp>
#include <tilewright/impl/space/chains/factored_form.hpp>
#include <tilewright/impl/space/chains/running_parts.hpp>
#include <tilewright/impl/space/gpu_rules.hpp>
#include <tilewright/impl/space/tiles/thread_elements.hpp>
#include <tilewright/impl/space/tiles/thread_rows.hpp>
#include <tilewright/impl/space/tiles/whole_tiles.hpp>
#include <tilewright/impl/target/warp_groups.hpp>
#include <tilewright/ir/copy_notes.hpp>
#include <tilewright/ir/kernel_notes.hpp>
#include <tilewright/schedule/path.hpp>
#include <tilewright/space/access_pattern.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/space/gpu.hpp>
#include <tilewright/space/modules/fuse_elements.hpp>
#include <tilewright/space/modules/use_tensor_core.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/stable_sort.hpp>
#include <tilewright/target/gpu.hpp>

namespace tilewright::space {
namespace detail {

/// The rules for one device; of equally likely sizes the first one is what runs unmeasured.
inline gpu_rules rules_for(const target::gpu& gpu) {
  gpu_rules list;
  list.tiling.warp_size = gpu.warp_size;
  list.tiling.max_threads_per_block = gpu.threads_per_block;
  list.tiling.resident_blocks = {0, 1, 2, 4};
  list.tiling.steps_ahead = {1, 2, 3, 0};
  list.tiling.product_order = true;
  list.tiling.row_padding = {16, 0};
  list.unroll_steps = {2048, 0, 16, 32, 64, 128, 256, 512, 1024};
  list.tiling.multiprocessors = gpu.multiprocessors;
  list.tiling.staged_bytes = gpu.shared_per_block / 3;
  list.tiling.vector_load_lengths = {4, 1, 2, 8, 16};
  list.tiling.reuse_write.through = "shared";
  list.reduction.thread_extents = {32, 64, 128, 256, 512, 16, 8, 4};
  list.reduction.max_threads_per_block = gpu.threads_per_block;
  list.reduction.rows = {4, 8, 2, 16};
  list.reduction.columns = {32, 16, 8, 4};
  list.reduction.warp_size = gpu.warp_size;
  list.reduction.vector_bytes = 16;
  list.reduction.tuples = list.reduction.lone_rows = true;
  list.binding.thread_extents = {256, 32, 64, 128, 512, 1024};
  list.binding.max_threads_per_block = gpu.threads_per_block;
  list.binding.max_threadblocks = gpu.grid_x;
  list.binding.vector_bytes = 16;
  list.passes.offered = true;
  return list;
}

/// Whether a block writes a parameter whose elements have two bytes or fewer.
inline bool returns_short_elements(const ir::function& f) {
  return support::any(primitive::all_blocks(f.body), [&](const ir::block_realize_node* r) {
    return support::any(r->block->writes, [&](const ir::buffer_region& to) {
      return bytes(to.buffer->type) <= 2 &&
             support::any(f.params, [&](const ir::param& p) { return p.buffer == to.buffer; });
    });
  });
}

/// Whether some matrix of short elements has rows that begin at no multiple of four bytes, so that no device copies it in the
/// background.
inline bool has_odd_rows(const ir::function& f) {
  constexpr std::int64_t least = 4;
  return support::any(f.params, [&](const ir::param& p) {
    if (!p.buffer || p.buffer->shape.size() < 2 || bytes(p.buffer->type) >= least) return false;
    const ir::expr& row = p.buffer->shape.back();
    const bool read = support::any(primitive::all_blocks(f.body), [&](const auto* r) {
      return support::any(r->block->reads,
                          [&](const ir::buffer_region& x) { return x.buffer == p.buffer; });
    });
    return read && ir::is_int(row) && ir::as_int(row) * bytes(p.buffer->type) % least != 0;
  });
}

/// Whether the device's engine can make each copy that is left to it: nothing is computed on the way, and strides of the
/// tensor are such that it takes them (target/tensor_box.hpp).
inline bool engine_can_copy(const ir::function& f) {
  return support::all(primitive::all_blocks(f.body), [](const ir::block_realize_node* r) {
    if (!ir::find_note(r->block->annotations, ir::tensor_copy_note)) return true;
    if (ir::any_stmt(r->block->body, [](const ir::stmt& x) {
          const ir::store_node* to = ir::as_store(x);
          return to && to->value->op != ir::op::load;
        }))
      return false;
    return support::all(r->block->reads, [](const ir::buffer_region& from) {
      const ir::buffer& b = from.buffer;
      std::int64_t step = bytes(b->type);
      for (std::size_t d = b->shape.size(); d-- > 0;) {
        if (!ir::is_int(b->shape[d]) || !b->strides.empty()) return false;
        if (d + 1 < b->shape.size() && step % 16 != 0) return false;
        step *= ir::as_int(b->shape[d]);
      }
      return true;
    });
  });
}

/// Families on tensor cores, where something fits them; members as in use_tensor_core. A lane has two
/// results of a row side by side; of short ones that is four bytes, so that families that stage them come first.
inline void add_tensor_families(std::vector<schedule>& out, const gpu_rules& list,
                                const schedule& s, const context& where) {
  struct way {
    int background;
    bool staged, carried, boxes = false;
  };
  std::vector<way> ways{{3, false, true},  {2, false, true}, {3, false, false},
                        {0, false, false}, {2, true, true},  {3, true, false}};
  if (returns_short_elements(s.function())) std::rotate(ways.begin(), ways.begin() + 4, ways.end());
  // what cannot be copied in the background waits in registers
  if (has_odd_rows(s.function()))
    support::stable_sort(
        ways, [](const way& a, const way& b) { return (a.background != 0) < (b.background != 0); });
  // no device has timed these: search may find out
  if (where.gpu->compute_capability >= 90) {
    ways.push_back({3, false, true, true});
    ways.push_back({3, true, false, true});
  }
  for (const way& w : ways) {
    use_tensor_core rule;
    rule.background = w.background;
    rule.staged = w.staged;
    rule.carried = w.carried;
    rule.deep = rule.whole = true;
    rule.tensor_copies = w.boxes;
    rule.max_threads_per_block = where.gpu->threads_per_block;
    for (schedule& grown : list.space(split_k{}, rule).grow(s, where))
      if (ir::root_block(grown.function())->annotations.count("warp_execution") &&
          engine_can_copy(grown.function()))
        out.push_back(std::move(grown));
  }
}

/// Families of warp groups, on devices that have them; no device has decided yet whether one of these shall run
/// unmeasured, so that they stand behind those of warps.
inline void add_group_families(std::vector<schedule>& out, const gpu_rules& list, const schedule& s,
                               const context& where) {
  if (!target::multiplies_in_groups(*where.gpu)) return;
  struct way {
    int columns, background;
    bool boxes = false, producer = false, persistent = false, stores = false;
  };
  const way ways[] = {{256, 2, true, true},
                      {256, 2, true, true, true},
                      {128, 2, true, true, true, true},
                      {256, 2, true},
                      {128, 4, true},
                      {64, 4, true},
                      {256, 2},
                      {256, 1},
                      {128, 2},
                      {128, 1},
                      {64, 2},
                      {64, 1}};
  for (const auto& [columns, background, boxes, producer, persistent, stores] : ways) {
    use_tensor_core rule;
    rule.intrinsics.clear();
    for (const char* types : {"f16f16f32", "bf16bf16f32"})
      for (const char* lies : {"", "_trans"})
        rule.intrinsics.push_back("wgmma_64x" + std::to_string(columns) + "x16_" + types + lies);
    rule.rows = {8, 2, 1};
    rule.columns = {1, 1, 1};
    rule.background = background;
    rule.whole = true;
    rule.tensor_copies = boxes;
    rule.producer = producer;
    rule.persistent = persistent;
    rule.tensor_stores = stores;
    rule.max_threads_per_block = where.gpu->threads_per_block;
    for (schedule& grown : list.space(split_k{}, rule).grow(s, where))
      if (ir::warps_of_thread(*ir::root_block(grown.function())) == ir::warps_of_group &&
          engine_can_copy(grown.function()) &&
          // where there are too few tiles for rounds of them
          !(persistent && !out.empty() && out.back().trace().print() == grown.trace().print()))
        out.push_back(std::move(grown));
  }
}

/// Families that read rows once for several of their reductions.
inline void add_joined_families(std::vector<schedule>& out, const gpu_rules& list, schedule s,
                                const context& where) {
  const ir::function before = s.function();
  if (!primitive::join_reductions(before)) return;
  s.work_on(before.name + std::string(primitive::joined_suffix));
  for (schedule& grown : list.space(split_k{}).grow(std::move(s), where))
    out.push_back(std::move(grown));
}

/// Families in which a thread, a warp or a block has a result, where the others have tiles: these are no use to extents that
/// no tile divides, and little to few results.
inline void add_families_without_tiles(std::vector<schedule>& out, const gpu_rules& list,
                                       const schedule& s, const context& where) {
  if (support::none(root_block_names(s),
                    [&](const std::string& name) { return shares_operands(s, name); }))
    return;
  for (schedule& grown : list.without_tiles().grow(s, where)) out.push_back(std::move(grown));
}

}  // namespace detail

TILEWRIGHT_INLINE design_space default_gpu() {
  return design_space(design_space::function([](schedule s, const context& where) {
           if (!where.gpu)
             throw argument_error(
                 "default_gpu makes schedules for GPUs, and the target is none; write default_cpu");
           detail::gpu_rules list = detail::rules_for(*where.gpu);
           if (fuse_searched_elements(s)) {
             list.unroll_steps = {16, 0, 64};
             return list.without_tiles().grow(std::move(s), where);
           }
           if (detail::has_ragged_rows(s)) {
             std::vector<schedule> rows = detail::row_family(s, where);
             for (schedule& grown : detail::addition_family(s, where))
               rows.push_back(std::move(grown));
             return rows;
           }
           detail::take_factored_form(s);
           std::vector<schedule> out;
           detail::add_running_families(out, s, where,
                                        true);                // attention whose weights are rounded
           detail::add_tensor_families(out, list, s, where);  // of which the first runs unmeasured
           detail::add_group_families(out, list, s, where);
           for (schedule& grown : list.space(detail::whole_tiles{}, split_k{}).grow(s, where))
             out.push_back(std::move(grown));
           detail::add_joined_families(out, list, s, where);
           detail::add_running_families(out, s, where, false);
           detail::add_families_without_tiles(out, list, s, where);
           return out;
         }))
      .with(detail::gpu_postprocs(true, true));
}

TILEWRIGHT_INLINE design_space default_space(const target::machine& where) {
  return where.gpu ? default_gpu() : default_cpu();
}

}  // namespace tilewright::space
