// Short sums of the channels of pixels with what finishes them, as a matrix times a colour with limits: both in vectors along the pixels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/chooser.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/space/space.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::space::detail {

/// A result of a few channels side by side, and the sum that it reads at its own place.
struct finished_sum {
  std::string sum;
  std::size_t pixel = 0, channel = 0;  // positions of variables of the result, and of the sum
};

/// The sum that the block finishes; nothing where there is none, or its channels and terms are too many to be written out.
inline std::optional<finished_sum> sum_of_pixels(const schedule& s, const std::string& name,
                                                 const context& where) {
  constexpr std::int64_t most_channels = 8, most_products = 32;  // of a pixel
  const std::optional<block_profile> p = profile(s, name);
  const std::optional<std::size_t> channel =
      p && !p->reduction && is_output(s, name) ? p->contiguous() : std::nullopt;
  if (!channel || p->extent[*channel] < 2 || p->extent[*channel] > most_channels)
    return std::nullopt;
  const std::int64_t channels = p->extent[*channel], lanes = where.cpu->lanes(dtype::f32);
  finished_sum out;
  out.channel = *channel;
  bool pixels = false;
  for (std::size_t i = 0; i < p->kind.size(); ++i)
    if (i != *channel && p->write.stride[i] == channels && p->extent[i] >= 2 * lanes) {
      out.pixel = i;
      pixels = true;
    }
  if (!pixels) return std::nullopt;
  for (const std::string& producer : producer_names(s, name)) {
    const std::optional<block_profile> sum = profile(s, producer);
    if (!sum || !sum->reduction) continue;
    // one alone, and nobody else reads it
    if (!out.sum.empty() || sum->in_order || is_output(s, producer) || sum->terms() < 1 ||
        sum->terms() * channels > most_products || consumer_names(s, producer).size() != 1)
      return std::nullopt;
    std::vector<std::int64_t> extents, strides;
    for (std::size_t i = 0; i < sum->kind.size(); ++i) {
      if (sum->kind[i] == ir::iter_kind::reduce) continue;
      if (i != extents.size()) return std::nullopt;  // results come before terms
      extents.push_back(sum->extent[i]);
      strides.push_back(sum->write.stride[i]);
    }
    const auto at_its_place = [&](const access_profile& r) {
      return r.buffer != sum->write.buffer || (r.affine && r.stride == strides);
    };
    if (extents != p->extent || !support::all(p->reads, at_its_place)) return std::nullopt;
    out.sum = producer;
  }
  return out.sum.empty() ? std::nullopt : std::optional(out);
}

/// ```
/// for y, x, c, k: S[y, x, c] += M[c, k] * A[y, x, k]
/// for y, x, c: B[y, x, c] = min(max(S[y, x, c], 0), 255)
///   ->
/// for y, x_0:
///   for k, c (unrolled), lanes (vectorized): S[y, .., c] += M[c, k] * A[y, .., k]
///   for c (unrolled), lanes (vectorized): B[y, .., c] = min(max(S[y, .., c], 0), 255)
/// ```
/// A structural choice, the first one: sums stay in registers, and their operands lie as they are given. 480 x 640 colours times a matrix,
/// limited, take 68 us so, and 120 to 320 us with the sum in register tiles.
/// @returns the blocks whose loops are decided
inline std::vector<std::string> finish_sums_of_pixels(schedule& s, const std::string& name,
                                                      const context& where, chooser& choices) {
  const std::optional<finished_sum> found = sum_of_pixels(s, name, where);
  if (!found || choices.pick(2) == 1) return {};
  const std::int64_t lanes = where.cpu->lanes(dtype::f32);
  schedule attempt = s;
  try {
    const std::vector<loop_rv> loops = attempt.get_loops(attempt.get_block(name));
    if (loops.size() != profile(s, name)->kind.size()) return {};
    const expr_rv width = choices.categorical(attempt, {lanes, 2 * lanes, 4 * lanes}, {1, 1.5, 1});
    const auto [strip, inside] = attempt.split(loops[found->pixel], {infer, width});
    std::vector<loop_rv> order;
    for (std::size_t i = 0; i < loops.size(); ++i)
      if (i != found->pixel && i != found->channel) order.push_back(loops[i]);
    order.push_back(strip);
    order.push_back(loops[found->channel]);
    order.push_back(inside);
    attempt.reorder(order);
    attempt.unroll(loops[found->channel]);
    attempt.vectorize(inside);
    const block_rv sum = attempt.get_block(found->sum);
    const std::size_t variables = named_block(s, found->sum).block->iters.size();
    attempt.compute_at(sum, strip, true);
    std::vector<loop_rv> all = attempt.get_loops(sum);
    all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(variables));
    const loop_rv along = all[found->pixel];
    std::vector<loop_rv> written_out(all.begin() + static_cast<std::ptrdiff_t>(loops.size()),
                                     all.end());
    written_out.push_back(all[found->channel]);
    std::vector<loop_rv> inner = written_out;
    inner.push_back(along);
    attempt.reorder(inner);
    for (const loop_rv l : written_out) attempt.unroll(l);
    attempt.vectorize(along);
    attempt.decompose_reduction(sum, written_out.front());
  } catch (const schedule_error&) {
    return {};
  }
  s = std::move(attempt);
  return {name};
}

}  // namespace tilewright::space::detail
