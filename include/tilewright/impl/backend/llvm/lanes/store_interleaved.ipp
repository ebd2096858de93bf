// Strided stores of a few channels that become stores of whole vectors.
//
// Where the two to eight channels of neighbouring pixels fill a run of memory, a vector along the pixels would be
// stored lane by lane. The vectors of all channels are shuffled together instead:
//
//   for c in range(3):                3 vectors X[c, 0:16], shuffled into 48 elements side by side,
//     for x in vectorized(16):        stored as 3 vectors
//       Y[x, c] = X[c, x]        ->
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <tilewright/backend/llvm/emit.hpp>
#include <tilewright/impl/backend/llvm/lanes/square_parts.hpp>
#include <tilewright/impl/pass/vector/placed_block.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::backend::llvm {
namespace detail::interleaved_parts {

inline constexpr std::int64_t most_channels = 8, most_vectors = 16, most_lanes = 128;

/// A vector of pixels of which the loop around stores one channel after the other.
struct pixel_store {
  std::vector<const ir::loop_node*> unrolled;  // outer first
  const ir::loop_node* lanes;
  const ir::if_node* guard;  // the same for all channels; null: all pixels are there
  const ir::store_node* store;
};

inline bool is_literal(const ir::loop_node& l) { return ir::is_int(l.min) && ir::is_int(l.extent); }

/// Whether pixels below the condition can be told before channels are.
inline bool is_guard(const ir::if_node& n, const ir::var& channel) {
  return !n.else_body && !ir::uses_var(n.condition, channel) && !ir::reads_memory(n.condition);
}

/// The statement as such a store, in a loop of `channel` over so many of them.
/// @param masks whether some of the elements of a vector can be stored
inline std::optional<pixel_store> as_pixel_store(const ir::stmt& s, const ir::var& channel,
                                                 std::int64_t channels, bool masks) {
  pixel_store out{};
  std::int64_t vectors = 1;
  const ir::loop_node* l = ir::as_loop(s);
  for (; l && l->loop == ir::loop_kind::unrolled && is_literal(*l); l = ir::as_loop(l->body)) {
    out.unrolled.push_back(l);
    vectors *= l->extent->integer;
    if (vectors > most_vectors) return std::nullopt;
  }
  const ir::if_node* guard = l && masks ? ir::as_if(l->body) : nullptr;
  if (guard && !is_guard(*guard, channel)) return std::nullopt;
  const ir::store_node* store = l ? ir::as_store(guard ? guard->then_body : l->body) : nullptr;
  if (!store || l->loop != ir::loop_kind::vectorized || !is_literal(*l)) return std::nullopt;
  const dtype type = store->buffer->type;
  const std::int64_t lanes = l->extent->integer;
  const auto step = [&](const ir::var& v) {
    return pass::detail::unmarked::step_along(store->buffer, store->indices, v).value_or(0);
  };
  const bool fits = !is_vector(type) && !is_bit_integer(type) && lanes >= 2 &&
                    lanes <= most_lanes && std::has_single_bit(static_cast<std::uint64_t>(lanes)) &&
                    step(channel) == 1 && step(l->var) == channels;
  if (!fits) return std::nullopt;
  out.lanes = l;
  out.guard = guard;
  out.store = store;
  return out;
}

/// Whether channels are elements at places that data tell, and no quotients of which something is known.
inline bool looks_up(const ir::expr& value, const shared_quotients& shared) {
  bool places = false, quotients = false;
  ir::for_each_expr(value, [&](const ir::expr& e) {
    places = places || (e->op == ir::op::load && support::any(e->args, [](const ir::expr& index) {
                          return ir::reads_memory(index);
                        }));
    quotients = quotients || shared.has(e);
  });
  return places && !quotients;
}

}  // namespace detail::interleaved_parts

/// Emits a loop over channels in which vectors of pixels are stored; false where there are none such.
TILEWRIGHT_INLINE bool emitter::emit_channels(const ir::loop_node& l, std::int64_t first,
                                              std::int64_t extent) {
  namespace p = detail::interleaved_parts;
  if (extent < 2 || extent > p::most_channels) return false;
  const ir::seq_node* several = ir::as_seq(l.body);
  const std::vector<ir::stmt> parts = several ? several->stmts : std::vector<ir::stmt>{l.body};
  const bool masks = b.cpu.has("avx512bw");
  const auto pixels = [&](const ir::stmt& s) { return p::as_pixel_store(s, l.var, extent, masks); };
  if (support::none(parts, [&](const ir::stmt& s) { return pixels(s).has_value(); }) ||
      !detail::square_parts::stores_apart(l, true))
    return false;
  for (const ir::stmt& part : parts) {
    if (const std::optional<p::pixel_store> one = pixels(part)) {
      emit_pixels(l, first, extent, one->unrolled, *one->lanes, one->guard, *one->store);
      continue;
    }
    const ir::stmt rest = with_body(l, part);
    made_.push_back(rest);  // what is known of statements goes by their address
    emit(rest);
  }
  return true;
}

/// The vectors of all iterations of the loops in `unrolled`.
TILEWRIGHT_INLINE void emitter::emit_pixels(const ir::loop_node& l, std::int64_t first,
                                            std::int64_t extent,
                                            const std::vector<const ir::loop_node*>& unrolled,
                                            const ir::loop_node& lanes, const ir::if_node* guard,
                                            const ir::store_node& store) {
  if (!unrolled.empty()) {
    const ir::loop_node& outer = *unrolled.front();
    const std::vector<const ir::loop_node*> inner(unrolled.begin() + 1, unrolled.end());
    const std::int64_t start = outer.min->integer;
    for (std::int64_t i = start; i < start + outer.extent->integer; ++i) {
      bound[outer.var.get()] = binding{binding::kind::constant, i, {}, {i, i}, {}};
      emit_pixels(l, first, extent, inner, lanes, guard, store);
    }
    bound.erase(outer.var.get());
    return;
  }
  const auto bind_channel = [&](std::int64_t c) {
    bound[l.var.get()] = binding{binding::kind::constant, c, {}, {c, c}, {}};
  };
  const int count = static_cast<int>(lanes.extent->integer);
  const std::int64_t start = lanes.min->integer;
  const dtype type = store.buffer->type;
  lane = {count, nullptr, false};
  bound[lanes.var.get()] = binding{binding::kind::lane, start, {}, {start, start + count - 1}, {}};
  std::vector<value_ref> channels, masks;
  bind_channel(first);
  if (guard && decided(guard->condition) != true) {
    lane.mask = widen(emit(guard->condition), true);
    masks = interleaved(std::vector<value_ref>(static_cast<std::size_t>(extent), lane.mask));
  }
  if (detail::interleaved_parts::looks_up(store.value, shared)) {
    // elements of one place in a table: all channels are one statement, in which they are pairs
    std::vector<ir::expr> all;
    for (std::int64_t c = first; c < first + extent; ++c)
      all.push_back(ir::substitute(store.value, {{l.var, ir::integer(l.var.type(), c)}}));
    for (const value& v : emit_whole(all))
      channels.push_back(b.to_stored(type, widen(v, true), count));
  } else {
    for (std::int64_t c = first; c < first + extent; ++c) {
      bind_channel(c);
      channels.push_back(b.to_stored(type, widen(emit(store.value), true), count));
    }
  }
  bind_channel(first);
  const place& p = place_of(store.buffer);
  affine to = offset(p, store.buffer, store.indices);
  to.lane_step = 1;
  const std::vector<value_ref> parts = interleaved(channels);
  for (std::size_t part = 0; part < parts.size(); ++part, to.constant += count) {
    lane.mask = masks.empty() ? nullptr : masks[part];
    store_lanes(p, to, parts[part]);
  }
  indices_in_memory_.clear();
  bound.erase(lanes.var.get());
  bound.erase(l.var.get());
  lane = {};
}

/// The lanes of all vectors, in turn one of each, as so many vectors.
TILEWRIGHT_INLINE std::vector<value_ref> emitter::interleaved(
    const std::vector<value_ref>& channels) {
  const auto count = static_cast<std::int64_t>(channels.size());
  const std::int64_t lanes = lane.lanes;
  if (std::has_single_bit(static_cast<std::uint64_t>(count)) && lanes >= count) {
    // pairs of channels first, and pairs of these next: of eight channels 24 shuffles where 56 would be
    std::vector<std::vector<value_ref>> groups;
    for (const value_ref channel : channels) groups.push_back({channel});
    for (std::int64_t each = 1; groups.size() > 1; each *= 2) {
      std::vector<std::vector<value_ref>> wider;
      for (std::size_t g = 0; g < groups.size(); g += 2) {
        wider.emplace_back();
        for (std::size_t v = 0; v < groups[g].size(); ++v)
          for (const std::int64_t half : {0, 1}) {
            std::vector<std::int64_t> from;
            for (std::int64_t i = 0; i < lanes; ++i)
              from.push_back(i / each % 2 * lanes + half * lanes / 2 + i / (2 * each) * each +
                             i % each);
            wider.back().push_back(b.c.BuildShuffleVector(b.b, groups[g][v], groups[g + 1][v],
                                                          b.integers(b.i32, from), ""));
          }
      }
      groups = std::move(wider);
    }
    return groups[0];
  }
  std::vector<value_ref> out;
  for (std::int64_t part = 0; part < count; ++part) {
    value_ref made = channels[0];
    for (std::int64_t c = 1; c < count; ++c) {
      std::vector<std::int64_t> from;  // what `made` has, else what the next channel brings
      for (std::int64_t i = 0; i < lanes; ++i) {
        const std::int64_t element = part * lanes + i, pixel = element / count;
        const std::int64_t channel = element % count;
        from.push_back(channel == c ? lanes + pixel : c == 1 && channel == 0 ? pixel : i);
      }
      made = b.c.BuildShuffleVector(b.b, made, channels[static_cast<std::size_t>(c)],
                                    b.integers(b.i32, from), "");
    }
    out.push_back(made);
  }
  return out;
}

}  // namespace tilewright::backend::llvm
