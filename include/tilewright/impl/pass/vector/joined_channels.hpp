// Stores of the channels of the same pixels, one statement after the other, as one loop over channels, which the backend stores in
// whole vectors.
//
//   for x in vectorized(16):                            for c in unrolled(3):
//     Y[3 * x] = r(x)                                     for x in vectorized(16):
//   for x in vectorized(16):                     ->         Y[3 * x + c] = select(c == 0, r(x), select(c == 1, g(x), b(x)))
//     Y[3 * x + 1] = g(x)
//   for x in vectorized(16):
//     Y[3 * x + 2] = b(x)
//
// So a program says that defines parts of one tensor each in a way of its own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/pass/vector/placed_block.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/substitution.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/walk.hpp>

namespace tilewright::pass::detail::joined_channels {

using namespace tilewright::ir;

inline constexpr std::int64_t most_channels = 8;

/// A vector of one channel.
struct channel_store {
  const loop_node* lanes;
  const if_node* guard;  // of lanes; null: all are stored
  const store_node* store;
  std::int64_t channel;  // less that of the first store
};

/// Whether the value reads elements of the buffer other than the one that is stored.
inline bool reads_others(const store_node& s) {
  bool out = false;
  for_each_expr(s.value, [&](const expr& e) {
    if (e->op != op::load || e->buffer != s.buffer) return;
    for (std::size_t d = 0; d < s.indices.size(); ++d)
      out = out || !arith::same_value(e->args[d], s.indices[d]);
  });
  return out;
}

/// The value with `indices` in the place of those at which it reads the buffer.
class reads_at : public mutator {
 public:
  reads_at(const buffer& b, const std::vector<expr>& indices) : buffer_(b), indices_(indices) {}
  using mutator::mutate;
  expr mutate(const expr& e) override {
    return e->op == op::load && e->buffer == buffer_ ? load(buffer_, indices_) : mutator::mutate(e);
  }

 private:
  const buffer& buffer_;
  const std::vector<expr>& indices_;
};

/// The statement as such a store, whose own channel is not known yet.
inline std::optional<channel_store> as_channel_store(const stmt& s) {
  const loop_node* lanes = as_loop(s);
  if (!lanes || lanes->loop != loop_kind::vectorized || !is_int(lanes->min) ||
      !is_int(lanes->extent))
    return std::nullopt;
  const if_node* guard = as_if(lanes->body);
  if (guard && (guard->else_body || reads_memory(guard->condition))) return std::nullopt;
  const store_node* store = as_store(guard ? guard->then_body : lanes->body);
  if (!store || store->indices.empty() || reads_others(*store)) return std::nullopt;
  return channel_store{lanes, guard, store, 0};
}

/// Channels of a pixel, as lanes step over them in the rows of a buffer; 0 where they don't.
inline std::int64_t channels_of(const channel_store& s) {
  const buffer& b = s.store->buffer;
  if (!b->strides.empty() && !is_int(b->strides.back(), 1)) return 0;
  return unmarked::step_along(b, s.store->indices, s.lanes->var).value_or(0);
}

/// The channel of `s` where it stores pixels of `first` under the same guard.
inline std::optional<std::int64_t> channel_beside(const channel_store& first,
                                                  const channel_store& s) {
  const auto here = [&](const expr& e) {
    return substitute(e, {{s.lanes->var, first.lanes->var}});
  };
  const bool same =
      s.store->buffer == first.store->buffer && equal(s.lanes->min, first.lanes->min) &&
      equal(s.lanes->extent, first.lanes->extent) && !s.guard == !first.guard &&
      (!s.guard || arith::same_value(here(s.guard->condition), first.guard->condition));
  if (!same) return std::nullopt;
  const std::vector<expr>&mine = s.store->indices, &its = first.store->indices;
  for (std::size_t d = 0; d + 1 < mine.size(); ++d)
    if (!arith::same_value(here(mine[d]), its[d])) return std::nullopt;
  const arith::linear apart = arith::to_linear(here(mine.back()) - its.back());
  return apart.is_constant() ? std::optional(apart.constant) : std::nullopt;
}

/// The stores from statement `first` on that are all channels of the same pixels, in the order of the channels; empty where there are
/// none such. None reads what another one stores, so that any order is right.
inline std::vector<channel_store> channels_from(const std::vector<stmt>& all, std::size_t first) {
  const std::optional<channel_store> head = as_channel_store(all[first]);
  const std::int64_t count = head ? channels_of(*head) : 0;
  if (count < 2 || count > most_channels) return {};
  std::vector<channel_store> out{*head};
  for (std::size_t i = first + 1; i < all.size() && std::ssize(out) < count; ++i) {
    std::optional<channel_store> next = as_channel_store(all[i]);
    const std::optional<std::int64_t> channel = next ? channel_beside(*head, *next) : std::nullopt;
    if (!channel) return {};
    next->channel = *channel;
    out.push_back(*next);
  }
  const auto before = [](const channel_store& a, const channel_store& b) {
    return a.channel < b.channel;
  };
  std::sort(out.begin(), out.end(), before);
  for (std::size_t c = 0; c < out.size(); ++c)
    if (out[c].channel != out[0].channel + static_cast<std::int64_t>(c)) return {};
  return std::ssize(out) == count ? out : std::vector<channel_store>{};
}

/// One loop over the channels.
inline stmt joined(const std::vector<channel_store>& channels) {
  const channel_store& first = channels.front();
  const var c = make_var("c", first.store->indices.back().type());
  std::vector<expr> indices = first.store->indices;
  indices.back() = indices.back() + c;
  reads_at own(first.store->buffer, indices);
  expr value;
  for (std::size_t at = channels.size(); at-- > 0;) {
    const channel_store& s = channels[at];
    const expr one = own.mutate(substitute(s.store->value, {{s.lanes->var, first.lanes->var}}));
    value =
        value ? select(eq(c, integer(c.type(), static_cast<std::int64_t>(at))), one, value) : one;
  }
  stmt body = make_store(first.store->buffer, indices, value);
  if (first.guard) body = make_if(first.guard->condition, std::move(body));
  return make_loop(c, integer(c.type(), 0), integer(c.type(), std::ssize(channels)),
                   with_body(*first.lanes, std::move(body)), loop_kind::unrolled);
}

class joiner : public mutator {
 public:
  using mutator::mutate;
  stmt mutate(const stmt& s) override {
    stmt out = mutator::mutate(s);
    const seq_node* several = as_seq(out);
    if (!several) return out;
    const std::vector<stmt>& all = several->stmts;
    std::vector<stmt> now;
    bool changed = false;
    for (std::size_t i = 0; i < all.size();) {
      const std::vector<channel_store> channels = channels_from(all, i);
      now.push_back(channels.empty() ? all[i] : joined(channels));
      i += std::max<std::size_t>(channels.size(), 1);
      changed = changed || !channels.empty();
    }
    return changed ? make_seq(std::move(now)) : out;
  }
};

}  // namespace tilewright::pass::detail::joined_channels

namespace tilewright::pass::detail {

/// Runs after loops have their final bounds and before vectors are split. Vectorized loops side by side become a loop over channels when
/// 1. there are two to eight of them, as many as a lane steps over elements of the rows of one buffer;
/// 2. each holds one store to that buffer, or the same condition around it, which reads no memory;
/// 3. their indices differ by 0, 1, 2 and so on in the last dimension, in any order;
/// 4. values read no element of the buffer but the one that is stored.
inline ir::function join_channels(const ir::function& f) {
  ir::function out = f;
  out.body = joined_channels::joiner{}.mutate(f.body);
  return out;
}

}  // namespace tilewright::pass::detail
