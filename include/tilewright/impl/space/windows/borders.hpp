// Borders of paddings: who reads them, and whether they had better be decided there, left out, or
// copied with the data.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/impl/space/vector_axis.hpp>
#include <tilewright/impl/space/windows/own_windows.hpp>
#include <tilewright/ir/extents.hpp>
#include <tilewright/ir/reduction_notes.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/space/space.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::space::detail {

/// Whether a block reads at clamped or mirrored indices.
inline bool bends_indices(const schedule& s, const std::string& name) {
  const auto bends = [](const ir::expr& index) {
    bool found = false;
    ir::for_each_expr(index, [&](const ir::expr& e) {
      found = found || e->op == ir::op::min || e->op == ir::op::max || e->op == ir::op::select;
    });
    return found;
  };
  bool out = false;
  ir::for_each_expr(named_block(s, name).block->body, [&](const ir::expr& e) {
    if (e->op == ir::op::load) out = out || support::any(e->args, bends);
  });
  return out;
}

/// A border by clamped or mirrored indices, read by a reduction: in there every step would compute
/// its indices again and gather by them, where a copy with its border is read in vectors.
inline bool is_border_of_windows(const schedule& s, const std::string& name) {
  return bends_indices(s, name) &&
         support::any(consumer_names(s, name), [&](const std::string& reader) {
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
/// takes is as much as some ten taps, and a decision is a mask where windows move along the lanes. Of
/// elements that are narrower than the result the copy takes less, but there each tap is widened, too,
/// which costs more than a mask.
inline bool suits_decided_borders(const schedule& s, const std::string& reader) {
  constexpr std::int64_t few_taps = 16;
  const block_profile p = *profile(s, reader);
  const access_profile* own = own_operand(p);
  if (!own) return false;
  const std::optional<std::size_t> columns = p.contiguous();
  const bool along = columns && reads_windows(*named_block(s, reader).block, *columns);
  if (bytes(own->buffer->type) < bytes(p.write.buffer->type)) return along;
  return !along || p.terms() <= few_taps;
}

inline bool is_zero(const ir::expr& e) {
  return (e->op == ir::op::integer && e->integer == 0) || (e->op == ir::op::real && e->real == 0);
}

/// What a padding has where it is not zero; null where the block is no padding with zeros.
inline ir::expr padded_value(const ir::block_node& b) {
  const ir::store_node* store = ir::as_store(b.body);
  if (!store || b.init) return {};
  const ir::expr& v = store->value;
  const bool chooses = v->op == ir::op::if_then_else || v->op == ir::op::select;
  return chooses && is_zero(v->args[2]) ? v->args[1] : ir::expr{};
}

/// Whether the block pads with zeros what stencils read, each at several places. A copy with borders goes
/// through memory again, where a stencil in place asks at its edges alone.
inline bool is_padding_of_stencils(const schedule& s, const std::string& name) {
  const ir::block_node& b = *named_block(s, name).block;
  if (!padded_value(b) || is_output(s, name) || b.writes.size() != 1) return false;
  const std::vector<std::string> readers = consumer_names(s, name);
  return !readers.empty() && support::all(readers, [&](const std::string& reader) {
    return !named_block(s, reader).block->init && loads_in(s, reader, b.writes[0].buffer) > 1;
  });
}

/// Whether the term is zero where the element of `padded` that it reads is.
inline bool vanishes_with(const ir::expr& term, const ir::buffer& padded) {
  switch (term->op) {
    case ir::op::load: return term->buffer == padded;
    case ir::op::cast: return vanishes_with(term->args[0], padded);
    case ir::op::mul:
      return vanishes_with(term->args[0], padded) || vanishes_with(term->args[1], padded);
    case ir::op::select:
    case ir::op::if_then_else:
      return is_zero(term->args[2]) && vanishes_with(term->args[1], padded);
    default: return false;
  }
}

/// Whether the block pads with zeros what one reduction multiplies and adds up, so that terms of the
/// border are zero.
inline bool is_padding_of_sums(const schedule& s, const std::string& name) {
  const ir::block_node& b = *named_block(s, name).block;
  if (!padded_value(b) || is_output(s, name) || b.writes.size() != 1) return false;
  const std::vector<std::string> readers = consumer_names(s, name);
  if (readers.size() != 1) return false;
  const ir::block_node& reader = *named_block(s, readers[0]).block;
  const ir::store_node* sum = ir::as_store(reader.body);
  const std::optional<block_profile> p = profile(s, readers[0]);
  if (!p || !p->reduction || !p->has(ir::iter_kind::reduce) || !sum) return false;
  if (sum->value->op != ir::op::add || p->in_order || ir::asks_for_order(reader.annotations))
    return false;
  const ir::buffer& padded = b.writes[0].buffer;
  return loads_in(s, readers[0], padded) == 1 && vanishes_with(sum->value->args[1], padded);
}

inline bool skips_zeros(const ir::block_node& b) {
  return b.annotations.count(ir::skip_zeros_note) != 0;
}

/// The largest share of lanes with work of columns along which no window moves; nothing where windows move
/// along all.
inline std::optional<double> lanes_beside_windows(const ir::block_node& b, const block_profile& p,
                                                  const context& where) {
  std::optional<double> most;
  for (std::size_t i = 0; i < p.kind.size(); ++i) {
    if (p.kind[i] != ir::iter_kind::spatial || p.extent[i] < 2 || reads_windows(b, i)) continue;
    const double lanes = fill(p.extent[i], where.cpu->lanes(p.write.buffer->type));
    most = std::max(most.value_or(0), lanes);
  }
  return most;
}

/// Whether terms of the border had better be left out than computed from a copy with borders: the copy
/// and the terms are saved, but tiles at the border take code of their own, and rows of tiles decide for
/// every tap. On Zen 5, 3x3 with channels last take 0.79 to 0.95 of the time at 7x7 to 56x56, and a
/// 7x7x7 in three dimensions 0.72; with channels first the former is so where images are small, and
/// where channels fill the lanes: 7x7 of three groups of 5 channels of 60 by 61 take 1.3 ms along
/// channels, and 0.36 ms from a copy.
inline bool suits_skipped_zeros(const schedule& s, const std::string& name, const context& where) {
  constexpr double large_border = 0.1;
  const std::string reader = consumer_names(s, name)[0];
  const ir::block_node& sums = *named_block(s, reader).block;
  const block_profile p = *profile(s, reader);
  const std::optional<std::size_t> columns = p.contiguous();
  if (columns && !reads_windows(sums, *columns)) return true;
  const auto elements = [](const ir::buffer& b) { return static_cast<double>(ir::elements_of(b)); };
  const double all = elements(named_block(s, name).block->writes[0].buffer);
  double inside = 1;
  ir::for_each_expr(padded_value(*named_block(s, name).block), [&](const ir::expr& e) {
    if (e->op == ir::op::load && inside == 1) inside = elements(e->buffer);
  });
  if (const auto beside = lanes_beside_windows(sums, p, where); beside && columns) {
    const double here = fill(p.extent[*columns], where.cpu->lanes(p.write.buffer->type));
    if (*beside < inside / all * here) return false;
  }
  return all - inside > large_border * all;
}

}  // namespace tilewright::space::detail
