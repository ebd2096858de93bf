#pragma once

#include <algorithm>
#include <iterator>

#include <tilewright/impl/space/own_windows.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/space/modules/add_rfactor.hpp>
#include <tilewright/space/modules/arranged_operands.hpp>
#include <tilewright/space/modules/auto_inline.hpp>
#include <tilewright/space/modules/fuse_rows.hpp>
#include <tilewright/space/modules/order_loops.hpp>
#include <tilewright/space/modules/parallel_vectorize.hpp>
#include <tilewright/space/modules/ragged_reduction.hpp>
#include <tilewright/space/modules/register_tiling.hpp>
#include <tilewright/space/modules/register_tiling_with_intrinsic.hpp>
#include <tilewright/space/modules/split_groups.hpp>
#include <tilewright/space/modules/transposed_output.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::space {
namespace detail {

/// A border by clamped or mirrored indices, read by a reduction: in there every step would compute
/// its indices again and gather by them, where a copy with its border is read in vectors.
inline bool is_border_of_windows(const schedule& s, const std::string& name) {
  const auto bends = [](const ir::expr& index) {
    bool found = false;
    ir::for_each_expr(index, [&](const ir::expr& e) {
      found = found || e->op == ir::op::min || e->op == ir::op::max || e->op == ir::op::select;
    });
    return found;
  };
  bool border = false;
  ir::for_each_expr(named_block(s, name).block->body, [&](const ir::expr& e) {
    if (e->op == ir::op::load) border = border || support::any(e->args, bends);
  });
  const std::vector<std::string> readers = consumer_names(s, name);
  return border && support::any(readers, [&](const std::string& reader) {
           return static_cast<bool>(named_block(s, reader).block->init);
         });
}

/// Loads in the block's body of one buffer, or of all.
inline std::size_t loads_in(const schedule& s, const std::string& name, const ir::buffer& of = {}) {
  std::size_t out = 0;
  ir::for_each_expr(named_block(s, name).block->body, [&](const ir::expr& e) {
    out += e->op == ir::op::load && (!of || e->buffer == of);
  });
  return out;
}

/// Inlining multiplies work: a consumer reads the block several times, and the block several
/// elements.
inline bool is_stencil_of_stencil(const schedule& s, const std::string& name) {
  const ir::block_node& b = *named_block(s, name).block;
  if (b.writes.size() != 1 || b.init || is_output(s, name) || loads_in(s, name) < 3) return false;
  const std::vector<std::string> readers = consumer_names(s, name);
  return std::any_of(readers.begin(), readers.end(), [&](const std::string& reader) {
    return loads_in(s, reader, b.writes[0].buffer) > 2;
  });
}

/// How cheap arithmetic is inlined.
inline auto_inline cheap_arithmetic() {
  auto_inline rule;
  rule.constant_tensors = rule.all_if_spatial = rule.calls = false;
  rule.injective_reads = rule.ordered_reads = false;
  return rule;
}

/// Blocks of cheap arithmetic go into their consumers, however these read them.
inline void inline_cheap_blocks(schedule& s, const context& where) {
  chooser none;
  for (const std::string& name : root_block_names(s))
    if (!is_border_of_windows(s, name) && !is_stencil_of_stencil(s, name))
      cheap_arithmetic()(s, name, where, none);
}

/// Stencils that are read by stencils go into them or stay.
inline void choose_stencils(schedule& s, const context& where, chooser& choices) {
  for (const std::string& name : root_block_names(s))
    if (!is_border_of_windows(s, name) && is_stencil_of_stencil(s, name) && choices.pick(2) == 1)
      cheap_arithmetic()(s, name, where, choices);
}

/// Whether the only reader of the block is a reduction that uses an element at no two places of any
/// axis of its result, as windows of a depthwise convolution do: a copy costs about as much as it.
inline bool is_read_by_windows_alone(const schedule& s, const std::string& name) {
  const std::vector<std::string> readers = consumer_names(s, name);
  if (readers.size() != 1 || is_output(s, name)) return false;
  const ir::block_node& b = *named_block(s, name).block;
  const std::optional<block_profile> p = profile(s, readers[0]);
  if (!p || !p->reduction || b.init || b.writes.size() != 1) return false;
  return support::all(p->reads, [&](const access_profile& read) {
    if (read.buffer != b.writes[0].buffer) return true;
    for (std::size_t i = 0; i < p->kind.size(); ++i)
      if (p->kind[i] == ir::iter_kind::spatial && p->extent[i] > 1 && read.stride[i] == 0)
        return false;
    return read.affine;
  });
}

/// Whether such windows had better decide their borders than read a copy with borders: what the copy
/// takes is as much as some ten taps, less where it is of narrow elements, and a decision is a mask
/// where windows move along the lanes.
inline bool suits_decided_borders(const schedule& s, const std::string& reader) {
  constexpr std::int64_t few_taps = 16;
  const block_profile p = *profile(s, reader);
  const access_profile* own = own_operand(p);
  if (!own || bytes(own->buffer->type) < bytes(p.write.buffer->type)) return false;
  const std::optional<std::size_t> columns = p.contiguous();
  return !columns || taps_of(p) <= few_taps ||
         !reads_windows(*named_block(s, reader).block, *columns);
}

/// Borders of such windows are decided where the windows are read, or copied.
inline void choose_borders(schedule& s, const context& where, chooser& choices) {
  auto_inline rule = cheap_arithmetic();
  rule.conditionals = true;
  for (const std::string& name : root_block_names(s)) {
    if (is_border_of_windows(s, name) || !is_read_by_windows_alone(s, name)) continue;
    if ((choices.pick(2) == 0) == suits_decided_borders(s, consumer_names(s, name)[0]))
      rule(s, name, where, choices);
  }
}

/// Channels of grouped reductions become two variables, the group and the channel within it.
inline void split_all_groups(schedule& s) {
  for (const std::string& name : root_block_names(s))
    if (named_block(s, name).block->init) split_groups(s, name);
}

/// The axis along which the block's register tile has its columns: the one along which the output is
/// contiguous, or one along which it is made so. Operands are laid out for it.
inline void choose_columns(schedule& s, const std::string& name, const context& where,
                           chooser& choices) {
  const std::vector<std::size_t> axes = column_axes(s, name, where);
  if (axes.empty()) return;
  const std::size_t columns = axes[axes.size() > 1 ? choices.pick(axes.size()) : 0];
  transposed_output(s, name, columns);
  arranged_operands(s, name, columns, choices);
}

/// Reductions for which the CPU has an instruction are tiled around it.
/// @returns whether one was
inline bool choose_intrinsics(schedule& s, const context& where, chooser& choices) {
  bool out = false;
  const std::vector<std::string> blocks = root_block_names(s);
  for (auto name = blocks.rbegin(); name != blocks.rend(); ++name)
    if (has_block(s, *name)) out |= register_tiling_with_intrinsic(s, *name, where, choices);
  return out;
}

/// The blocks of the root scope that no intrinsic has taken.
inline std::vector<std::string> plain_blocks(const schedule& s) {
  std::vector<std::string> out = root_block_names(s);
  std::erase_if(out, [&](const std::string& name) { return is_tensorized(s, name); });
  return out;
}

/// One sketch; consumers come before their producers, so that a producer is placed into loops that
/// are final.
inline void build_cpu_sketch(schedule& s, const context& where, chooser& choices, bool intrinsics) {
  choose_stencils(s, where, choices);
  split_all_groups(s);
  choose_borders(s, where, choices);
  std::vector<std::string> blocks = root_block_names(s);
  bool tiled = intrinsics && choose_intrinsics(s, where, choices);
  for (const std::string& name : blocks) {
    if (!has_block(s, name) || is_tensorized(s, name)) continue;  // copies for it have their layout
    choose_columns(s, name, where, choices);
  }
  blocks = plain_blocks(s);
  for (auto name = blocks.rbegin(); name != blocks.rend(); ++name)
    if (has_block(s, *name) && needs_register_tiling(s, *name)) {
      register_tiling(s, *name, where, choices);
      tiled = true;
    }
  for (const std::string& name : blocks)
    if (has_block(s, name) && is_ragged_reduction(s, name))
      ragged_reduction(s, name, where, choices);
  for (const std::string& name : blocks) {
    if (!has_block(s, name)) continue;
    if (needs_rfactor(s, name, where)) add_rfactor(s, name, where, choices);
    order_loops(s, name);
  }
  if (!tiled)
    for (const std::string& name : blocks)
      if (has_block(s, name) && is_output(s, name)) fuse_rows(s, name, where, choices);
  for (const std::string& name : blocks)
    if (has_block(s, name)) vectorize_innermost(s, name, where, choices);
  parallelize_outermost(s, where);
}

/// Whether a reduction can become an intrinsic that the CPU does well.
inline bool offers_intrinsics(schedule attempt, const context& where) {
  chooser any;
  try {
    split_all_groups(attempt);
    return choose_intrinsics(attempt, where, any);
  } catch (const schedule_error&) {
    return false;
  }
}

/// Sketches around intrinsics; none where no run succeeds.
inline std::vector<schedule> tensorized_sketches(schedule& s, const context& where,
                                                 std::size_t limit) {
  try {
    return enumerate(s, where, limit, [&](schedule& sketch, chooser& choices) {
      build_cpu_sketch(sketch, where, choices, true);
    });
  } catch (const schedule_error&) {
    return {};
  }
}

}  // namespace detail

TILEWRIGHT_INLINE design_space default_cpu(std::size_t limit, bool intrinsics) {
  return design_space(design_space::function([limit, intrinsics](schedule s, const context& where) {
    if (where.gpu)
      throw argument_error(
          "default_cpu makes schedules for CPUs, and the target is a GPU; write default_gpu");
    detail::inline_cheap_blocks(s, where);
    const bool around = intrinsics && detail::offers_intrinsics(s, where);
    if (where.wanted == yield::member)
      return enumerate(s, where, limit, [&](schedule& sketch, chooser& choices) {
        detail::build_cpu_sketch(sketch, where, choices, around && choices.pick(2) == 0);
      });
    std::vector<schedule> out;
    if (around) out = detail::tensorized_sketches(s, where, (limit + 1) / 2);
    if (out.size() >= limit) return out;
    std::vector<schedule> plain =
        enumerate(s, where, limit - out.size(), [&](schedule& sketch, chooser& choices) {
          detail::build_cpu_sketch(sketch, where, choices, false);
        });
    std::move(plain.begin(), plain.end(), std::back_inserter(out));
    return out;
  }));
}

}  // namespace tilewright::space
