#pragma once

#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <string>

#include <tilewright/impl/schedule/primitive/reductions/algorithm_form.hpp>
#include <tilewright/impl/schedule/primitive/reductions/joined_reductions.hpp>
#include <tilewright/impl/space/chains/definition_parts.hpp>
#include <tilewright/impl/space/chains/factored_form.hpp>
#include <tilewright/impl/space/chains/finished_sums.hpp>
#include <tilewright/impl/space/chains/point_sums.hpp>
#include <tilewright/impl/space/chains/scans.hpp>
#include <tilewright/impl/space/chains/scattered_sums.hpp>
#include <tilewright/impl/space/chains/short_sums.hpp>
#include <tilewright/impl/space/tiles/broadcast_producer.hpp>
#include <tilewright/impl/space/tiles/channel_blocks.hpp>
#include <tilewright/impl/space/tiles/few_results.hpp>
#include <tilewright/impl/space/tiles/flat_columns.hpp>
#include <tilewright/impl/space/tiles/records.hpp>
#include <tilewright/impl/space/tiles/short_columns.hpp>
#include <tilewright/impl/space/tiles/short_terms.hpp>
#include <tilewright/impl/space/windows/borders.hpp>
#include <tilewright/ir/term_order.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/space/chains/cascade_in_parts.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/space/modules/add_rfactor.hpp>
#include <tilewright/space/modules/arranged_operands.hpp>
#include <tilewright/space/modules/auto_inline.hpp>
#include <tilewright/space/modules/fuse_elements.hpp>
#include <tilewright/space/modules/fuse_rows.hpp>
#include <tilewright/space/modules/order_loops.hpp>
#include <tilewright/space/modules/parallel_vectorize.hpp>
#include <tilewright/space/modules/ragged_reduction.hpp>
#include <tilewright/space/modules/register_tiling.hpp>
#include <tilewright/space/modules/register_tiling_with_intrinsic.hpp>
#include <tilewright/space/modules/split_groups.hpp>
#include <tilewright/space/modules/transposed_output.hpp>
#include <tilewright/space/modules/walk_rows.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/space/windows/transformed_tiles.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/numbers/checked.hpp>

namespace tilewright::space {
namespace detail {

/// Inlining multiplies work: a consumer reads the block several times, through a border of zeros or
/// without, and the block several elements.
inline bool is_stencil_of_stencil(const schedule& s, const std::string& name) {
  const ir::block_node& b = *named_block(s, name).block;
  if (b.writes.size() != 1 || b.init || is_output(s, name) || loads_in(s, name) < 3) return false;
  const std::vector<std::string> readers = consumer_names(s, name);
  return support::any(readers, [&](const std::string& reader) {
    if (loads_in(s, reader, b.writes[0].buffer) > 2) return true;
    const ir::buffer_region& padded = named_block(s, reader).block->writes[0];
    return is_padding_of_stencils(s, reader) &&
           support::any(consumer_names(s, reader), [&](const std::string& stencil) {
             return loads_in(s, stencil, padded.buffer) > 2;
           });
  });
}

/// How much of a block is decided: nothing, how its operands lie in memory, its loops as well, or those of what it reads, too.
enum class decided { nothing, layout, loops, chain };

/// Decisions by the names of blocks.
using decisions = std::map<std::string, decided>;

/// What is decided of a block; intrinsics decide all of those that they take.
inline decided decided_of(const schedule& s, const decisions& known, const std::string& name) {
  if (is_tensorized(s, name)) return decided::loops;
  const auto found = known.find(name);
  return found == known.end() ? decided::nothing : found->second;
}

/// How cheap arithmetic is inlined.
inline auto_inline cheap_arithmetic() {
  auto_inline rule;
  rule.constant_tensors = rule.all_if_spatial = rule.calls = false;
  rule.injective_reads = rule.ordered_reads = false;
  return rule;
}

/// Blocks of cheap arithmetic go into their consumers, however these read them, but not into sums that broadcast what they
/// compute. Borders go first: a block behind a border is then seen to be read by a stencil, where it is.
inline void inline_cheap_blocks(schedule& s, const context& where) {
  chooser none;
  for (const std::string& name : root_block_names(s))
    if (loads_in(s, name) == 1 && bends_indices(s, name) && !is_border_of_windows(s, name))
      cheap_arithmetic()(s, name, where, none);
  for (const std::string& name : root_block_names(s))
    if (!is_border_of_windows(s, name) && !is_stencil_of_stencil(s, name) &&
        !is_broadcast_producer(s, name, where) && !is_value_of_points(s, name, where))
      cheap_arithmetic()(s, name, where, none);
}

/// Stencils that are read by stencils go into them or stay.
inline void choose_stencils(schedule& s, const context& where, chooser& choices) {
  for (const std::string& name : root_block_names(s))
    if (!is_border_of_windows(s, name) && is_stencil_of_stencil(s, name) && choices.pick(2) == 1)
      cheap_arithmetic()(s, name, where, choices);
}

/// Borders of windows that serve one result each are decided where the windows are read, or copied, and
/// so are borders of zeros around stencils; of other sums their zeros are left out, or copied.
/// Blocks of which something is decided keep theirs.
inline void choose_borders(schedule& s, const context& where, chooser& choices, bool intrinsics,
                           const decisions& known) {
  auto_inline rule = cheap_arithmetic();
  rule.conditionals = true;
  for (const std::string& name : root_block_names(s)) {
    if (is_border_of_windows(s, name) || known.count(name) > 0) continue;
    if (is_padding_of_stencils(s, name)) {
      if (choices.pick(2) == 0) rule(s, name, where, choices);
    } else if (is_read_by_windows_alone(s, name)) {
      if ((choices.pick(2) == 0) == suits_decided_borders(s, consumer_names(s, name)[0]))
        rule(s, name, where, choices);
    } else if (!intrinsics && is_padding_of_sums(s, name)) {
      const std::string reader = consumer_names(s, name)[0];
      if ((choices.pick(2) == 0) != suits_skipped_zeros(s, name, where)) continue;
      rule(s, name, where, choices);
      if (!has_block(s, name)) s.annotate(s.get_block(reader), ir::skip_zeros_note, 1);
    }
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
  std::vector<std::size_t> axes = column_axes(s, name, where);
  if (axes.empty()) return;
  // zeros are left out where all lanes agree on them
  const ir::block block = named_block(s, name).block;
  const auto moves = [&](std::size_t axis) { return reads_windows(*block, axis); };
  if (skips_zeros(*block) && !support::all(axes, moves)) std::erase_if(axes, moves);
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

/// Chooses how the operands of a block lie in memory; of sums of few results, and of short columns, it chooses more.
inline decided choose_layout(schedule& s, const std::string& name, const context& where,
                             chooser& choices) {
  if (named_block(s, name).block->init && fuse_short_columns(s, name, where, choices))
    return decided::layout;
  if (reduce_records(s, name, where, choices)) return decided::chain;
  if (sum_short_terms(s, name, where, choices)) return decided::loops;
  if (sum_few_results(s, name, where, choices)) return decided::loops;
  flatten_columns(s, name, where, choices);
  choose_columns(s, name, where, choices);
  return decided::layout;
}

/// Sums along memory whose order is to stay wait for each addition: those of several results go on at the same time,
/// an accumulator each. 512 sums of 768 f32 numbers take 175 us one after the other, 51 us so.
/// @returns whether the block is one of those
inline bool sum_side_by_side(schedule& s, const std::string& name, chooser& choices) {
  const std::optional<block_profile> p = reduction_profile(s, name);
  if (!p || !p->in_order || (p->contiguous() && p->loads_vectors(*p->contiguous()))) return false;
  std::optional<std::size_t> results;
  for (std::size_t i = 0; i < p->kind.size(); ++i)
    if (p->kind[i] == ir::iter_kind::spatial && p->extent[i] >= 4) results = i;
  if (!results) return false;
  const std::vector<loop_rv> loops = s.get_loops(s.get_block(name));
  const expr_rv count = choices.categorical(s, {8, 16, 4}, {3, 2, 1});
  const auto [outer, beside] = s.split(loops[*results], {infer, count});
  std::vector<loop_rv> order;
  for (const std::size_t i : p->walking_order()) order.push_back(i == *results ? outer : loops[i]);
  order.push_back(beside);
  s.reorder(order);
  s.unroll(beside);
  return true;
}

/// One sketch; consumers come before their producers, so that a producer is placed into loops that
/// are final.
inline void build_cpu_sketch(schedule& s, const context& where, chooser& choices, bool intrinsics) {
  choose_stencils(s, where, choices);
  split_all_groups(s);
  decisions known;
  for (const std::string& name : schedule_scans(s, where, choices)) known[name] = decided::chain;
  if (!intrinsics)
    for (const std::string& name : choose_channel_blocks(s, where, choices))
      known[name] = decided::layout;
  choose_borders(s, where, choices, intrinsics, known);
  std::vector<std::string> blocks = root_block_names(s);
  for (const std::string& name : blocks)
    if (known.count(name) == 0 && scatter_sums(s, name, where, choices))
      known[name] = decided::loops;
  blocks = root_block_names(s);
  for (const std::string& name : blocks)
    if (has_block(s, name) && known.count(name) == 0)
      for (const std::string& decided_one : sum_strips(s, name, where, choices))
        known[decided_one] = decided::chain;
  for (const std::string& name : blocks)
    if (has_block(s, name) && known.count(name) == 0)
      for (const std::string& finished : finish_sums_of_pixels(s, name, where, choices))
        known[finished] = decided::chain;
  blocks = root_block_names(s);
  for (auto name = blocks.rbegin(); name != blocks.rend(); ++name)
    if (const auto done = known.find(*name); done == known.end() || done->second < decided::loops)
      for (const std::string& sum : sum_in_lanes(s, *name, where, choices))
        known[sum] = decided::loops;
  bool tiled = intrinsics && choose_intrinsics(s, where, choices);
  for (const std::string& name : blocks)  // not those of copies for intrinsics, which have theirs
    if (has_block(s, name) && decided_of(s, known, name) == decided::nothing)
      known[name] = choose_layout(s, name, where, choices);
  blocks = root_block_names(s);
  std::erase_if(blocks, [&](const std::string& name) {
    return decided_of(s, known, name) >= decided::loops;
  });
  for (auto name = blocks.rbegin(); name != blocks.rend(); ++name)
    if (has_block(s, *name)) {
      const std::vector<std::string> readers = consumer_names(s, *name);
      const bool tiles = needs_register_tiling(s, *name);
      const bool several = named_block(s, *name).block->writes.size() > 1;
      if ((tiles || several || !readers.empty()) && walk_rows(s, *name, where, choices)) {
        for (const std::string& finishing : readers) known[finishing] = decided::chain;
        tiled = tiled || readers.empty();
      } else if (tiles) {
        register_tiling(s, *name, where, choices);
        tiled = true;
      }
    }
  for (const std::string& name : blocks)
    if (has_block(s, name) && is_ragged_reduction(s, name))
      ragged_reduction(s, name, where, choices);
  for (const std::string& name : blocks) {
    if (!has_block(s, name)) continue;
    if (needs_rfactor(s, name, where)) add_rfactor(s, name, where, choices);
    if (!sum_side_by_side(s, name, choices)) order_loops(s, name);
  }
  const auto is_free = [&](const std::string& name) {
    return decided_of(s, known, name) < decided::loops && support::contains(blocks, name);
  };
  for (const definition_parts& parts : definitions_in_parts(s, is_free))
    if (merge_parts_of_results(s, parts, where, choices))
      std::erase_if(blocks,
                    [&](const std::string& name) { return support::contains(parts, name); });
  if (!tiled)
    for (const std::string& name : blocks)
      if (has_block(s, name) && is_output(s, name) && decided_of(s, known, name) != decided::chain)
        fuse_rows(s, name, where, choices);
  for (const std::string& name : blocks)
    if (has_block(s, name)) vectorize_innermost(s, name, where, choices);
  parallelize_outermost(s, where);
}

/// One sketch of products of transformed tiles with what is before and after them; other blocks, such as the
/// transformation of the filter, stand in nests of their own.
inline void build_tiles(schedule& s, const std::string& products, const context& where,
                        chooser& choices) {
  transformed_tiles(s, products, where, choices);
  for (const std::string& name : root_block_names(s)) vectorize_innermost(s, name, where, choices);
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

/// Whether sketches without intrinsics come first: of bytes whose vectors had better lie along pixels, or along sums of few results.
inline bool suits_plain_sums(schedule s, const context& where) {
  split_all_groups(s);
  return support::any(root_block_names(s), [&](const std::string& name) {
    return suits_channel_blocks(s, name, *where.cpu) || sums_as_operands_lie(s, name, where);
  });
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

/// Whether each element that the block computes is read once, by a reduction of tuples, and nowhere else.
inline bool feeds_one_tuple(const schedule& s, const std::string& name) {
  const ir::block_node& b = *named_block(s, name).block;
  const std::vector<std::string> readers = consumer_names(s, name);
  if (b.init || b.writes.size() != 1 || is_output(s, name) || readers.size() != 1) return false;
  const ir::block_node& reader = *named_block(s, readers[0]).block;
  const auto iterations = [](const ir::block_node& of) {
    double out = 1;
    for (const ir::iter_var& i : of.iters)
      out *= ir::is_int(i.dom.extent) ? static_cast<double>(i.dom.extent->integer) : -1;
    return out;
  };
  return reader.init && reader.writes.size() > 1 && iterations(b) == iterations(reader);
}

/// Reductions that share values become one, and what it alone reads is computed there.
inline void join(schedule& s) {
  s.work_on(s.function().name + std::string(primitive::joined_suffix));
  const std::vector<std::string> blocks = root_block_names(s);
  for (auto name = blocks.rbegin(); name != blocks.rend(); ++name)
    if (feeds_one_tuple(s, *name)) s.compute_inline(s.get_block(*name));
}

/// Sketches with reductions joined and with reductions apart, in this order or the other one. Sums and sums of squares of 512
/// rows of 768 floats take 14 us joined, 26 us apart.
inline std::vector<schedule> joined_and_apart(schedule& s, const context& where, std::size_t limit,
                                              bool joined_first) {
  const auto build = [&](schedule& sketch, chooser& choices, bool joined) {
    if (joined) join(sketch);
    build_cpu_sketch(sketch, where, choices, false);
  };
  if (where.wanted == yield::member)
    return enumerate(s, where, limit, [&](schedule& sketch, chooser& choices) {
      build(sketch, choices, choices.pick(2) == 0);
    });
  std::vector<schedule> out;
  for (const bool joined : {joined_first, !joined_first}) {
    const std::size_t most = out.empty() ? (limit + 1) / 2 : limit - out.size();
    if (most == 0) break;
    try {
      std::vector<schedule> some =
          enumerate(s, where, most,
                    [&](schedule& sketch, chooser& choices) { build(sketch, choices, joined); });
      std::move(some.begin(), some.end(), std::back_inserter(out));
    } catch (const schedule_error&) {
      if (!joined) throw;
    }
  }
  return out;
}

/// Whether the block reduces more than the second-level cache holds.
inline bool reduces_beyond_caches(const ir::block_node& b, const target::cpu& cpu) {
  std::int64_t size = bytes(b.writes[0].buffer->type);
  for (const ir::iter_var& i : b.iters)
    if (i.kind == ir::iter_kind::reduce)
      size = support::saturated_product(size, ir::is_int(i.dom.extent) ? i.dom.extent->integer : 1);
  return size > cpu.l2_bytes;
}

/// Whether sketches with reductions joined come first; nothing where none are offered. Sums that are rescaled take two
/// exponentials an element, which pays only where rows come from memory each time: 8 rows of a million elements take 3.3 ms
/// joined, 3.6 ms apart.
inline std::optional<bool> joined_first(const schedule& s, const target::cpu& cpu) {
  const std::optional<primitive::joined_reductions> joined =
      primitive::join_reductions(s.function());
  if (!joined) return std::nullopt;
  if (!joined->rescales) return true;
  const ir::stmt& body = ir::root_block(joined->function)->body;
  const bool beyond =
      support::any(primitive::all_blocks(body), [&](const ir::block_realize_node* r) {
        return r->block->init && r->block->writes.size() > 1 &&
               reduces_beyond_caches(*r->block, cpu);
      });
  return beyond ? std::optional(false) : std::nullopt;
}

/// Sketches with a cascade of reductions in parts, so that no more than a part of what it reduces exists at a time;
/// none where a primitive refuses.
inline std::vector<schedule> parted_sketches(schedule& s, const context& where, std::size_t limit) {
  try {
    return enumerate(s, where, limit, [&](schedule& sketch, chooser& choices) {
      cascade_in_parts(sketch, where, choices);
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
    if (has_results_of_elements(s))
      return enumerate(s, where, limit, [&](schedule& sketch, chooser& choices) {
        const bool fused = choices.pick(2) == 1 && fuse_elements(sketch, where, choices);
        if (!fused) detail::inline_cheap_blocks(sketch, where);
        detail::build_cpu_sketch(sketch, where, choices, false);
      });
    if (const std::optional<std::string> products = transformed_products(s))
      return enumerate(s, where, limit, [&](schedule& sketch, chooser& choices) {
        detail::build_tiles(sketch, *products, where, choices);
      });
    const bool in_order = ir::keeps_term_order(s.function()) && ir::reduces_floats(s.function());
    if (!in_order) detail::take_scans(s);
    if (!in_order) detail::take_factored_form(s);
    detail::inline_cheap_blocks(s, where);
    const bool around = intrinsics && !in_order && detail::offers_intrinsics(s, where);
    const bool parts = !in_order && has_wide_cascade(s);
    if (!around && !parts && !in_order)
      if (const std::optional<bool> first = detail::joined_first(s, *where.cpu))
        return detail::joined_and_apart(s, where, limit, *first);
    if (where.wanted == yield::member)
      return enumerate(s, where, limit, [&](schedule& sketch, chooser& choices) {
        if (parts && choices.pick(2) == 0) return cascade_in_parts(sketch, where, choices);
        detail::build_cpu_sketch(sketch, where, choices, around && choices.pick(2) == 0);
      });
    const bool plain_first = around && detail::suits_plain_sums(s, where);
    std::vector<schedule> out;
    const auto add = [&](std::size_t most, bool tensorized) {
      if (most == 0) return;
      std::vector<schedule> more =
          tensorized ? detail::tensorized_sketches(s, where, most)
                     : enumerate(s, where, most, [&](schedule& sketch, chooser& choices) {
                         detail::build_cpu_sketch(sketch, where, choices, false);
                       });
      std::move(more.begin(), more.end(), std::back_inserter(out));
    };
    std::vector<schedule> in_parts;
    if (parts) in_parts = detail::parted_sketches(s, where, (limit + 2) / 3);
    const std::size_t rest = limit - in_parts.size();
    if (around) add((rest + 1) / 2, !plain_first);
    add(rest - out.size(), plain_first);
    const bool first = parts && suits_cascade_in_parts(s);
    out.insert(first ? out.begin() : out.end(), std::make_move_iterator(in_parts.begin()),
               std::make_move_iterator(in_parts.end()));
    return out;
  }));
}

}  // namespace tilewright::space
