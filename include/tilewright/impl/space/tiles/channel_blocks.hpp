// Channels of bytes in blocks of four: reductions whose operands lie so become dot products of four bytes
// with vectors along the pixels (pass/vector/join_products.hpp).
//
//   P[c, h, w];  Y[k, p, q] += P[c, 2 * p + r, 2 * q + s] * F[k, c, r, s]
//   ->  P[c // 4, h, w % 2, w // 2, c % 4], F[k, c // 4, r, s, c % 4], and c % 4 last of the block's variables
//
// Of an image with channels first that is one pass over it, which interleaves rows, and results stay where
// they are; vectors along the channels of the result take two transpositions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/space/tiles/few_results.hpp>
#include <tilewright/impl/space/tiles/moving_dimension.hpp>
#include <tilewright/impl/space/tiles/operand_producer.hpp>
#include <tilewright/impl/space/vector_axis.hpp>
#include <tilewright/ir/index_map.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/space/access_pattern.hpp>
#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/chooser.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/space/space.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/cpu.hpp>
#include <tilewright/target/lane_step.hpp>

namespace tilewright::space::detail {

inline constexpr std::int64_t block_of_channels = 4;

/// A reduction of bytes over channels that lie apart in an image, whose pixels along the columns of the result
/// are near each other.
struct channel_reduction {
  std::size_t channel = 0, columns = 0;  // variables of the block
  ir::buffer image, weights;
  moving_dimension pixels;                     // of the image, along the columns
  std::size_t image_dim = 0, weights_dim = 0;  // those of the channels
  bool whole = false;                          // there are whole blocks
  bool single = false;                         // windows of one pixel
};

/// The dimension of an operand along which a variable takes single steps: alone, or beside whole blocks.
inline std::optional<std::size_t> channel_dimension(const ir::block_node& b,
                                                    const ir::buffer& operand,
                                                    const ir::var& channel, bool alone) {
  const std::optional<moving_dimension> moves = moving_along(b, operand, channel);
  if (!moves || moves->step != 1) return std::nullopt;
  bool fits = true;
  ir::for_each_expr(b.body, [&](const ir::expr& e) {
    if (e->op != ir::op::load || e->buffer != operand) return;
    const arith::linear index = arith::to_linear(e->args[moves->dim]);
    fits = fits && index.constant % block_of_channels == 0;
    for (const auto& [term, step] : index.terms)
      fits = fits && (term.same(channel) || (!alone && step % block_of_channels == 0));
    fits = fits && !(alone && index.constant != 0);
  });
  return fits ? std::optional(moves->dim) : std::nullopt;
}

/// Nothing where the block is no such reduction, or a third of what blocks have would be padding.
inline std::optional<channel_reduction> find_channels(const schedule& s, const std::string& name) {
  const std::optional<block_profile> p = profile(s, name);
  if (!p || !p->reduction || p->write.buffer->type != dtype::i32 || p->reads.size() != 2 ||
      !p->contiguous() || !is_trivially_bound(s, name))
    return std::nullopt;
  channel_reduction out;
  out.columns = *p->contiguous();
  if (!p->reuse(out.columns)) return std::nullopt;
  const auto narrow = [](const access_profile& r) {
    return r.affine && r.region >= 0 &&
           (r.buffer->type == dtype::i8 || r.buffer->type == dtype::u8);
  };
  const bool first =
      p->reads[0].stride.size() > out.columns && p->reads[0].stride[out.columns] != 0;
  const access_profile &image = p->reads[first ? 0 : 1], &weights = p->reads[first ? 1 : 0];
  if (!narrow(image) || !narrow(weights) || image.buffer == weights.buffer ||
      weights.stride[out.columns] != 0 || image.stride[out.columns] < 1 ||
      image.stride[out.columns] > target::cheap_lane_step ||
      (image.buffer->type == dtype::u8 && weights.buffer->type == dtype::u8))
    return std::nullopt;
  out.image = image.buffer;
  out.weights = weights.buffer;
  std::int64_t longest = 0, steps = 1;
  for (std::size_t i = 0; i < p->kind.size(); ++i) {
    if (p->kind[i] != ir::iter_kind::reduce) continue;
    steps *= p->extent[i];
    if (p->extent[i] < 2 || image.stride[i] <= longest) continue;
    longest = image.stride[i];
    out.channel = i;
  }
  const ir::block_node& b = *named_block(s, name).block;
  const std::int64_t extent = longest > 0 ? p->extent[out.channel] : 0,
                     blocks = (extent + block_of_channels - 1) / block_of_channels;
  if (3 * blocks * block_of_channels > 4 * extent) return std::nullopt;
  out.whole = extent % block_of_channels == 0;
  out.single = steps == extent;
  const ir::var& channel = b.iters[out.channel].var;
  const auto in_image = channel_dimension(b, out.image, channel, !out.whole),
             in_weights = channel_dimension(b, out.weights, channel, !out.whole);
  const auto pixels = moving_along(b, out.image, b.iters[out.columns].var);
  if (!in_image || !in_weights || !pixels || pixels->dim == *in_image ||
      pixels->step != image.stride[out.columns])
    return std::nullopt;
  out.pixels = *pixels;
  out.image_dim = *in_image;
  out.weights_dim = *in_weights;
  return out;
}

/// Whether vectors along the pixels promise more than vectors along the channels of the result, which have to be
/// transposed for it: more lanes with work, or few products for each result.
inline bool suits_channel_blocks(const schedule& s, const std::string& name,
                                 const target::cpu& cpu) {
  constexpr double transposing =
      8;  // dot products of a vector, as long as its way to channels first
  const std::optional<channel_reduction> found = find_channels(s, name);
  if (!found) return false;
  const block_profile p = *profile(s, name);
  if (p.reads[0].buffer != found->image)
    return false;  // instructions take vectors of the second one
  const std::int64_t lanes = cpu.lanes(p.write.buffer->type);
  const std::int64_t rows = p.extent[*p.reuse(found->columns)];
  double products = 1.0 / block_of_channels;
  for (std::size_t i = 0; i < p.kind.size(); ++i)
    if (p.kind[i] == ir::iter_kind::reduce) products *= static_cast<double>(p.extent[i]);
  return fill(p.extent[found->columns], lanes) *
             fill(p.extent[found->channel], block_of_channels) >=
         fill(rows, lanes) * products / (products + transposing);
}

/// The copy that a block reads an operand from, which is made where no block computes the operand.
/// @param apart whether only the elements that the block reads are copied, each for itself
inline void make_copy(schedule& s, const std::string& name, const ir::buffer& operand, bool apart) {
  if (arranging_producer(s, name, operand)) return;
  const block_rv b = s.get_block(name);
  const std::vector<ir::buffer_region>& reads = s.get(b).block->reads;
  std::size_t at = 0, number = 0;
  while (at < reads.size() && reads[at].buffer != operand) ++at;
  for (std::size_t i = 0; i < at; ++i)
    number += reads[i].buffer != s.get(b).block->writes[0].buffer;
  if (apart)
    s.reindex(b, read_buffer(static_cast<int>(number)));
  else
    s.cache_read(b, static_cast<int>(at), "global");
}

/// The channels become a whole number of blocks; what copied operands before goes into the copies with zeros.
inline void pad_channels(schedule& s, const std::string& name, std::size_t channel) {
  const std::vector<std::string> copies = producer_names(s, name);
  const block_rv b = s.get_block(name);
  std::vector<std::int64_t> multiples(s.get(b).block->iters.size(), 1);
  multiples[channel] = block_of_channels;
  s.pad_einsum(b, multiples);
  for (const std::string& copy : copies)
    if (has_block(s, copy) && !support::contains(producer_names(s, name), copy))
      s.compute_inline(s.get_block(copy));
}

/// `channel` in blocks, the number within a block last; before it `pixels`, if any, behind their phases.
inline ir::index_map blocked_layout(std::size_t rank, std::size_t channel,
                                    const std::optional<moving_dimension>& pixels) {
  return ir::make_index_map(rank, [&](const std::vector<ir::var>& v) {
    std::vector<ir::expr> out;
    const ir::expr size = ir::integer(v[channel].type(), block_of_channels);
    for (std::size_t d = 0; d < rank; ++d)
      if (d == channel)
        out.push_back(ir::floordiv(v[d], size));
      else if (!pixels || d != pixels->dim)
        out.push_back(v[d]);
    if (pixels) {
      const ir::expr step = ir::integer(v[pixels->dim].type(), pixels->step);
      if (pixels->step > 1) out.push_back(ir::floormod(v[pixels->dim], step));
      out.push_back(pixels->step > 1 ? ir::floordiv(v[pixels->dim], step)
                                     : ir::expr(v[pixels->dim]));
    }
    out.push_back(ir::floormod(v[channel], size));
    return out;
  });
}

/// Lays a copy out in blocks, and lets its loops follow.
inline void lay_blocks(schedule& s, const std::string& copy, std::size_t channel,
                       const std::optional<moving_dimension>& pixels) {
  const block_rv b = s.get_block(copy);
  const ir::buffer written = s.get(b).block->writes[0].buffer;
  const ir::index_map map = blocked_layout(written->shape.size(), channel, pixels);
  const ir::expr extent = pixels ? written->shape[pixels->dim] : ir::expr(1);
  if (pixels && (!ir::is_int(extent) || extent->integer % pixels->step != 0)) {
    s.transform_layout(b, written_buffer(0), map, argument(0));
    return;
  }
  s.transform_layout(b, written_buffer(0), map);
  s.transform_block_layout(b, map);
}

/// The variable in blocks, the number within a block last.
inline void split_channel(schedule& s, const std::string& name, std::size_t channel) {
  const block_rv b = s.get_block(name);
  s.transform_block_layout(b, blocked_layout(s.get(b).block->iters.size(), channel, std::nullopt));
}

/// The buffer of the operand that is neither `other` nor what the block writes.
inline ir::buffer operand_read(const schedule& s, const std::string& name, bool image,
                               std::size_t columns) {
  const block_profile p = *profile(s, name);
  for (const access_profile& read : p.reads)
    if ((read.stride[columns] != 0) == image) return read.buffer;
  return {};
}

/// Lays the operands of a block out so, with all that it takes.
/// @returns the block and its copies, whose layout is final; none where the block is no such reduction
inline std::vector<std::string> block_channels(schedule& s, const std::string& name) {
  const std::optional<channel_reduction> found = find_channels(s, name);
  if (!found) return {};
  schedule attempt = s;
  try {
    const bool apart = found->single && !arranging_producer(s, name, found->image);
    make_copy(attempt, name, found->image, apart);
    make_copy(attempt, name, found->weights, apart);
    if (!found->whole) pad_channels(attempt, name, found->channel);
    const ir::block b = named_block(attempt, name).block;
    const ir::buffer image = operand_read(attempt, name, true, found->columns),
                     weights = operand_read(attempt, name, false, found->columns);
    const ir::var channel = b->iters[found->channel].var;
    const auto image_copy = arranging_producer(attempt, name, image),
               weights_copy = arranging_producer(attempt, name, weights);
    const auto pixels = moving_along(*b, image, b->iters[found->columns].var),
               image_channel = moving_along(*b, image, channel),
               weights_channel = moving_along(*b, weights, channel);
    if (!image_copy || !weights_copy || !pixels || !image_channel || !weights_channel) return {};
    lay_blocks(attempt, *image_copy, image_channel->dim, pixels);
    lay_blocks(attempt, *weights_copy, weights_channel->dim, std::nullopt);
    split_channel(attempt, name, found->channel);
    s = std::move(attempt);
    return {name, *image_copy, *weights_copy};
  } catch (const schedule_error&) {
    return {};
  }
}

/// Reductions of bytes get their channels in blocks, or not, where the CPU has dot products of bytes; sums of few results first do not.
/// @returns blocks whose layout is final
inline std::vector<std::string> choose_channel_blocks(schedule& s, const context& where,
                                                      chooser& choices) {
  std::vector<std::string> out;
  if (!where.cpu->has("avx2") && !where.cpu->has("dotprod")) return out;
  for (const std::string& name : root_block_names(s)) {
    if (!has_block(s, name) || !find_channels(s, name)) continue;
    if ((choices.pick(2) == 0) == sums_as_operands_lie(s, name, where)) continue;
    for (std::string& made : block_channels(s, name)) out.push_back(std::move(made));
  }
  return out;
}

}  // namespace tilewright::space::detail
