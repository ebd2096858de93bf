// Tails of vectorized loops as one vector with lanes off, instead of vectors of falling width.
//
//   for l in vectorized(8): A[k, 16 + l] = A[k, 16 + l] + X[16 + l]   (.. 4, 2 and 1: 31 in all)
//   ->
//   for l in vectorized(16): A[k, 16 + l] = A[k, 16 + l] + if_then_else(l < 15, X[16 + l], 0)
//
// A row of a buffer that the function allocates is made longer where a loop runs to its end, so that
// accumulators stay whole vectors; the lanes behind the end hold values that nobody uses. Everything
// else is loaded and stored under the mask.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/ir/extents.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/vector/split_vectors.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::pass::detail::masked {

using namespace tilewright::ir;

inline std::int64_t power_not_below(std::int64_t n) {
  std::int64_t out = 1;
  while (out < n) out *= 2;
  return out;
}

/// Whether masked vectors cost what whole ones do.
inline bool has_masks(const target::cpu& target) {
  return target.has("avx512f") && target.has("avx512vl") && target.has("avx512bw");
}

/// Whether the last elements of a loop, `rest` in number, are worth a mask: they take several vectors
/// without.
inline bool wants_mask(std::int64_t rest) { return (rest & (rest - 1)) != 0; }

/// Buffers that the function allocates, and nobody takes the address of.
inline std::vector<buffer> own_buffers(const stmt& body) {
  std::vector<buffer> out;
  for_each_stmt(body, [&](const stmt& s) {
    const allocate_node* a = as_allocate(s);
    if (a && a->buffer->strides.empty() && !a->buffer->shape.empty() &&
        support::all(a->buffer->shape, [](const expr& e) { return is_int(e); }))
      out.push_back(a->buffer);
  });
  for_each_expr(body, [&](const expr& e) {
    if (e->op == op::data) std::erase(out, e->buffer);
  });
  return out;
}

/// What the tails of a function look like.
class tails {
 public:
  tails(const stmt& body, const target::cpu& target) : target_(target) {
    if (!has_masks(target)) return;
    own_ = own_buffers(body);
    while (split_more(body)) continue;
    for_each_stmt(body, [&](const stmt& s) {
      const loop_node* loop = as_loop(s);
      if (loop && loop->loop == loop_kind::vectorized && is_maskable(*loop)) lengthen(*loop);
    });
  }

  /// Rows that masked tails of loops end are whole vectors long.
  buffer_map longer() const {
    buffer_map out;
    for (const auto& [b, length] : length_) {
      buffer_node node = *b;
      node.shape.back() = integer(node.shape.back().type(), length);
      out.emplace(b, buffer(new buffer_node(std::move(node))));
    }
    return out;
  }

  /// Whether the loop's last elements are computed under a mask.
  bool is_maskable(const loop_node& loop) const {
    if (!has_masks(target_) || !is_int(loop.extent) || !is_int(loop.min, 0)) return false;
    const std::int64_t extent = as_int(loop.extent);
    const std::int64_t rest = extent % lanes_of(loop.body, target_);
    if (!wants_mask(rest)) return false;
    // lanes apart are shuffled out of several masked loads: two narrower vectors cost less
    if (std::popcount(static_cast<std::uint64_t>(rest)) == 2 && spreads(loop)) return false;
    return is_plain(loop.body) && support::all(accesses(loop.body), [&](const access& a) {
             if (!moves(a, loop.var)) return !a.stored;
             if (support::contains(split_, a.of)) return false;
             return !is_local(a.of) || ends_row(a, loop);
           });
  }

  /// `body` with what lies outside of `inside` left alone. `lane` is the loop's variable in it.
  stmt masked(const stmt& body, const loop_node& loop, const expr& inside, const var& lane) const {
    std::vector<buffer> whole;
    for (const access& a : accesses(loop.body))
      if (const auto at = length_.find(a.of); at != length_.end() && ends_row(a, loop))
        if (end_of(a, loop) <= at->second) whole.push_back(a.of);
    // one access of a buffer that does not run to the row's end masks the others, too
    for (const access& a : accesses(loop.body))
      if (moves(a, loop.var) && !ends_row(a, loop)) std::erase(whole, a.of);
    return guard{inside, lane, std::move(whole)}.mutate(body);
  }

 private:
  struct access {
    buffer of;
    std::vector<expr> indices;
    bool stored = false;
  };

  static std::vector<access> accesses(const stmt& body) {
    std::vector<access> out;
    for_each_stmt(body, [&](const stmt& s) {
      if (const store_node* store = as_store(s))
        out.push_back({store->buffer, store->indices, true});
    });
    for_each_expr(body, [&](const expr& e) {
      if (e->op == op::load) out.push_back({e->buffer, e->args});
    });
    return out;
  }

  static bool moves(const access& a, const var& v) {
    return support::any(a.indices, [&](const expr& index) { return uses_var(index, v); });
  }

  /// Whether an element loaded in the loop does not lie beside that of the next lane. The bytes of dot
  /// products are loaded and shuffled together in any case.
  static bool spreads(const loop_node& loop) {
    bool dots = false;
    for_each_expr(loop.body,
                  [&](const expr& e) { dots = dots || (e->op == op::call && e->name == "dot4"); });
    return !dots && support::any(accesses(loop.body), [&](const access& a) {
      if (!moves(a, loop.var) || a.stored) return false;
      for (std::size_t d = 0; d + 1 < a.indices.size(); ++d)
        if (uses_var(a.indices[d], loop.var)) return true;
      return arith::to_linear(a.indices.back()).coefficient(loop.var) != 1;
    });
  }

  /// Stores of numbers that may be computed for elements which are not there.
  static bool is_plain(const stmt& body) {
    bool out = true;
    for_each_stmt(body, [&](const stmt& s) {
      const store_node* store = as_store(s);
      out = out && (store || as_seq(s)) && !(store && bytes(store->buffer->type) < 4);
    });
    for_each_expr(body, [&](const expr& e) {
      const bool divides =
          e->op == op::div || e->op == op::mod || e->op == op::floordiv || e->op == op::floormod;
      if (divides && !is_float(e.type()) && !is_int(e->args[1])) out = false;
      if (e->op == op::call && !is_float(e.type()) && e->name != "dot4") out = false;
      if (e->op == op::load && support::any(e->args, [](const expr& i) { return reads(i); }))
        out = false;
    });
    return out;
  }

  static bool reads(const expr& e) {
    bool out = false;
    for_each_expr(e, [&](const expr& x) { out = out || x->op == op::load; });
    return out;
  }

  static bool is_local(const buffer& b) { return b->scope == "local"; }

  /// Rows of local memory that some loop walks in narrower vectors: values in registers have one
  /// width, so all loops do. Returns whether there are more than known.
  bool split_more(const stmt& body) {
    const std::size_t before = split_.size();
    for_each_stmt(body, [&](const stmt& s) {
      const loop_node* loop = as_loop(s);
      if (!loop || loop->loop != loop_kind::vectorized || is_maskable(*loop)) return;
      if (!is_int(loop->extent) ||
          !wants_mask(as_int(loop->extent) % lanes_of(loop->body, target_)))
        return;
      for (const access& a : accesses(loop->body))
        if (is_local(a.of) && moves(a, loop->var) && !support::contains(split_, a.of))
          split_.push_back(a.of);
    });
    return split_.size() != before;
  }

  /// Where in its row the access begins, when it moves along it and ends with it.
  std::optional<std::int64_t> begin_of(const access& a, const loop_node& loop) const {
    if (!support::contains(own_, a.of) || a.indices.size() != a.of->shape.size())
      return std::nullopt;
    for (std::size_t d = 0; d + 1 < a.indices.size(); ++d)
      if (uses_var(a.indices[d], loop.var)) return std::nullopt;
    arith::linear last = arith::to_linear(a.indices.back());
    if (last.terms.size() != 1 || !last.terms[0].first.same(loop.var) || last.terms[0].second != 1)
      return std::nullopt;
    return last.constant;
  }

  bool ends_row(const access& a, const loop_node& loop) const {
    const std::optional<std::int64_t> begin = begin_of(a, loop);
    return begin && *begin + as_int(loop.extent) == as_int(a.of->shape.back());
  }

  /// Whether rows of `length` elements instead of what they have cost little memory.
  static bool is_cheap(const buffer& b, std::int64_t length) {
    constexpr std::int64_t small = 4096;  // bytes, which become local
    const std::int64_t row = as_int(b->shape.back());
    return is_local(b) || bytes_of(b, 0) <= small || 8 * (length - row) <= row;
  }

  /// Where in the row the last vector of the loop ends.
  std::int64_t end_of(const access& a, const loop_node& loop) const {
    const std::int64_t lanes = lanes_of(loop.body, target_), extent = as_int(loop.extent);
    return *begin_of(a, loop) + extent / lanes * lanes + power_not_below(extent % lanes);
  }

  void lengthen(const loop_node& loop) {
    for (const access& a : accesses(loop.body)) {
      if (!ends_row(a, loop)) continue;
      const std::int64_t needed = end_of(a, loop);
      if (!is_cheap(a.of, needed)) continue;
      std::int64_t& length = length_[a.of];
      length = std::max(length, needed);
    }
  }

  /// Loads and stores of what is not whole, under the mask.
  class guard : public mutator {
   public:
    guard(expr inside, var lane, std::vector<buffer> whole)
        : inside_(std::move(inside)), lane_(std::move(lane)), whole_(std::move(whole)) {}
    using mutator::mutate;

    expr mutate(const expr& e) override {
      const expr out = mutator::mutate(e);
      if (out->op != op::load || support::contains(whole_, out->buffer) || !varies(out->args))
        return out;
      const dtype type = out.type();
      return if_then_else(inside_, out, is_float(type) ? real(type, 0) : integer(type, 0));
    }

    stmt mutate(const stmt& s) override {
      stmt out = mutator::mutate(s);
      const store_node* store = as_store(out);
      if (!store || support::contains(whole_, store->buffer)) return out;
      return make_if(inside_, std::move(out));
    }

   private:
    bool varies(const std::vector<expr>& indices) const {
      return support::any(indices, [&](const expr& i) { return uses_var(i, lane_); });
    }

    expr inside_;
    var lane_;
    std::vector<buffer> whole_;
  };

  const target::cpu& target_;
  std::vector<buffer> own_;
  std::vector<buffer> split_;  // local ones, whose tails stay vectors of falling width
  std::unordered_map<buffer, std::int64_t> length_;  // of rows, in elements
};

}  // namespace tilewright::pass::detail::masked
