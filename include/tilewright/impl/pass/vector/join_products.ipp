#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <tilewright/impl/pass/vector/placed_block.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/loop_notes.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/vector/join_products.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/target/cpu.hpp>
#include <tilewright/target/lane_step.hpp>

namespace tilewright::pass {
namespace detail::joined_products {

using namespace tilewright::ir;

inline constexpr std::int64_t most_iterations = 8, at_once = 4;

/// A factor of a product: a byte, or 0 outside of a condition.
struct factor {
  expr value;  // in 8 bits
  const expr_node* load = nullptr;
  bool conditional = false;
};

inline std::optional<factor> as_factor(const expr& e) {
  if (e->op != op::cast || e.type() != dtype::i32) return std::nullopt;
  const expr& byte = e->args[0];
  if (byte.type() != dtype::i8 && byte.type() != dtype::u8) return std::nullopt;
  if (byte->op == op::load) return factor{byte, byte.get(), false};
  const bool zero_outside =
      byte->op == op::if_then_else && byte->args[1]->op == op::load && is_int(byte->args[2], 0);
  if (!zero_outside || reads_memory(byte->args[0])) return std::nullopt;
  return factor{byte, byte->args[1].get(), true};
}

/// sum + lanes * shared in a store below the loop that is joined.
struct product {
  const store_node* store;
  expr sum;
  factor lanes, shared;
};

inline bool reads(const expr& e, const buffer& b) {
  bool out = false;
  for_each_expr(e, [&](const expr& x) { out = out || (x->op == op::load && x->buffer == b); });
  return out;
}

inline std::optional<std::int64_t> step_of(const factor& f, const var& v) {
  return unmarked::step_along(f.load->buffer, f.load->args, v);
}

/// The store below a loop as such a product; nothing where it is none.
inline std::optional<product> as_product(const store_node& s, const var& joined, const var& lane) {
  const expr& e = s.value;
  if (s.buffer->type != dtype::i32 || e->op != op::add) return std::nullopt;
  const auto moves = [&](const expr& index) { return uses_var(index, joined); };
  if (support::any(s.indices, moves)) return std::nullopt;
  for (const std::size_t at : {std::size_t{0}, std::size_t{1}}) {
    const expr &sum = e->args[at], &term = e->args[1 - at];
    const bool own =
        sum->op == op::load && sum->buffer == s.buffer && same_indices(sum->args, s.indices);
    if (!own || term->op != op::mul || reads(term, s.buffer)) continue;
    for (const std::size_t k : {std::size_t{0}, std::size_t{1}}) {
      const std::optional<factor> wide = as_factor(term->args[k]),
                                  shared = as_factor(term->args[1 - k]);
      if (!wide || !shared || shared->conditional) continue;
      if (wide->value.type() == dtype::u8 && shared->value.type() == dtype::u8) continue;
      const auto near = [&](const var& v) {
        const std::optional<std::int64_t> step = step_of(*wide, v);
        return step && *step >= 1 && *step <= target::cheap_lane_step;
      };
      if (near(joined) && near(lane) && step_of(*shared, joined) == 1 &&
          step_of(*shared, lane) == 0)
        return product{&s, sum, *wide, *shared};
    }
  }
  return std::nullopt;
}

/// The product that all of a loop is about; nothing where it is about something else.
inline std::optional<product> find_product(const loop_node& l) {
  var lane;
  stmt s = l.body;
  while (s) {
    if (const loop_node* inner = as_loop(s)) {
      if (inner->loop == loop_kind::parallel || inner->loop == loop_kind::thread_binding ||
          uses_var(inner->min, l.var) || uses_var(inner->extent, l.var))
        return std::nullopt;
      if (inner->loop == loop_kind::vectorized) lane = inner->var;
      s = inner->body;
    } else if (const if_node* guard = as_if(s)) {
      if (guard->else_body || uses_var(guard->condition, l.var) || reads_memory(guard->condition))
        return std::nullopt;
      s = guard->then_body;
    } else {
      const store_node* store = as_store(s);
      return store && lane ? as_product(*store, l.var, lane) : std::nullopt;
    }
  }
  return std::nullopt;
}

/// What the store becomes when all iterations of the loop are added at once.
inline stmt joined(const loop_node& l, const product& p) {
  const auto at = [&](const expr& e, std::int64_t k) {
    return substitute(e, {{l.var, l.min + integer(l.var.type(), k)}});
  };
  const std::int64_t count = l.extent->integer;
  const bool one_left = count % at_once == 1;
  expr sum = p.sum;
  if (one_left)
    sum = sum + cast(dtype::i32, at(p.lanes.value, count - 1)) *
                    cast(dtype::i32, at(p.shared.value, count - 1));
  for (std::int64_t first = 0; first < count - (one_left ? 1 : 0); first += at_once) {
    std::vector<expr> args{sum};
    for (std::int64_t k = first; k < first + at_once; ++k)
      args.push_back(at(p.lanes.value, std::min(k, count - 1)));
    for (std::int64_t k = first; k < first + at_once; ++k)
      args.push_back(k < count ? at(p.shared.value, k) : integer(p.shared.value.type(), 0));
    sum = call(dtype::i32, "dot4", std::move(args));
  }
  return make_store(p.store->buffer, p.store->indices, sum);
}

class joiner : public mutator {
 public:
  explicit joiner(const target::cpu& target) : masks_(target.has("avx512bw")) {}
  using mutator::mutate;

  stmt mutate(const stmt& s) override {
    const loop_node* l = as_loop(s);
    if (const std::optional<product> p = l ? product_of(*l) : std::nullopt)
      return replaced(l->body, joined(*l, *p), note_of_unrolling(*l));
    return mutator::mutate(s);
  }

 private:
  std::optional<product> product_of(const loop_node& l) const {
    if ((l.loop != loop_kind::serial && l.loop != loop_kind::unrolled) || !is_int(l.min) ||
        constant_extent(l) < 2 || constant_extent(l) > most_iterations)
      return std::nullopt;
    std::optional<product> out = find_product(l);
    if (out && out->lanes.conditional && !masks_) out.reset();
    return out;
  }

  static annotations note_of_unrolling(const loop_node& l) {
    const auto found = l.annotations.find(unroll_note);
    return found == l.annotations.end() ? annotations{} : annotations{*found};
  }

  /// The nest with another store; what is said about writing out the loop that is gone is said about the
  /// next one that repeats.
  static stmt replaced(const stmt& s, const stmt& store, const annotations& notes) {
    if (const loop_node* l = as_loop(s)) {
      const bool here = l->loop == loop_kind::serial || l->loop == loop_kind::unrolled;
      annotations all = l->annotations;
      if (here) all.insert(notes.begin(), notes.end());
      return make_loop(l->var, l->min, l->extent,
                       replaced(l->body, store, here ? annotations{} : notes), l->loop, all,
                       l->thread_tag);
    }
    if (const if_node* guard = as_if(s))
      return make_if(guard->condition, replaced(guard->then_body, store, notes));
    return store;
  }

  bool masks_;
};

}  // namespace detail::joined_products

TILEWRIGHT_INLINE ir::function join_products(const ir::function& f, const target::cpu& target) {
  if (!target.has("avx2") && !target.has("dotprod")) return f;
  ir::function out = f;
  out.body = detail::joined_products::joiner(target).mutate(f.body);
  return out;
}

}  // namespace tilewright::pass
