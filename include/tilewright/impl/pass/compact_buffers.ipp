#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/arith/scoped_mutator.hpp>
#include <tilewright/arith/scoped_visitor.hpp>
#include <tilewright/impl/pass/vector/stride_wishes.hpp>
#include <tilewright/ir/rerouting.hpp>
#include <tilewright/ir/storage_scope.hpp>
#include <tilewright/pass/compact_buffers.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::pass::detail::compact {

using namespace tilewright::ir;

/// base + [lo, hi] covers an index; `base` holds the terms of the loops around the allocation.
struct span {
  arith::linear base;
  std::int64_t lo = 0, hi = 0;
};

/// Span of each dimension of one buffer over all its accesses; a dimension without one is kept
/// whole.
class access_spans : public arith::scoped_visitor {
 public:
  access_spans(buffer b, arith::analyzer outside, const std::vector<const loop_node*>& around)
      : scoped_visitor(std::move(outside)), buffer_(std::move(b)) {
    // threads that share the buffer all count, wherever it is allocated
    for (const loop_node* loop : around)
      if (shared_across(buffer_->scope, *loop)) inner_[loop->var] = loop;
  }
  using scoped_visitor::visit;

  void visit(const expr& e) override {
    if (e->op == op::load && e->buffer == buffer_) add(e->args);
    scoped_visitor::visit(e);
  }

  void visit(const stmt& s) override {
    if (const store_node* store = as_store(s); store && store->buffer == buffer_)
      add(store->indices);
    if (const let_node* let = as_let(s)) inner_[let->var] = nullptr;
    if (const loop_node* loop = as_loop(s)) inner_[loop->var] = loop;
    scoped_visitor::visit(s);
  }

  const std::vector<std::optional<span>>& spans() const { return spans_; }
  bool accessed() const { return accessed_; }

 private:
  void add(const std::vector<expr>& indices) {
    if (!accessed_) {
      accessed_ = true;
      for (const expr& e : indices) spans_.push_back(measure(e));
      return;
    }
    for (std::size_t d = 0; d < indices.size(); ++d)
      if (spans_[d]) spans_[d] = unite(*spans_[d], measure(indices[d]));
  }

  bool is_inner(const expr& e) const {
    if (e->op == op::var) return inner_.count(e) != 0;
    if (e->op == op::load) return true;  // may change while the buffer lives
    return support::any(e->args, [&](const expr& arg) { return is_inner(arg); });
  }

  /// Adds factor * [range of term] to `out`; false when it has no constant range.
  bool widen(const expr& term, std::int64_t factor, span& out) const {
    const auto found = inner_.find(term);
    const loop_node* loop = found == inner_.end() ? nullptr : found->second;
    std::int64_t lo = 0, hi = 0;
    if (loop && !is_int(loop->min) && !is_inner(loop->min)) {
      const arith::bounds extent = known.const_bounds(loop->extent);
      if (!extent.bounded()) return false;
      for (const auto& [t, c] : arith::to_linear(loop->min).terms)
        add_term(out.base, t, c * factor);
      lo = arith::to_linear(loop->min).constant;
      hi = lo + std::max<std::int64_t>(extent.hi, 1) - 1;
    } else {
      const arith::bounds b = known.const_bounds(term);
      if (!b.bounded()) return false;
      lo = b.lo;
      hi = b.hi;
    }
    out.lo += factor * (factor > 0 ? lo : hi);
    out.hi += factor * (factor > 0 ? hi : lo);
    return true;
  }

  static void add_term(arith::linear& sum, const expr& term, std::int64_t factor) {
    for (auto& [t, c] : sum.terms)
      if (arith::same_value(t, term)) {
        c += factor;
        return;
      }
    sum.terms.push_back({term, factor});
  }

  std::optional<span> measure(const expr& index) const {
    const arith::linear sum = arith::to_linear(known.simplify(index));
    span out;
    out.base.type = index.type();
    out.lo = out.hi = sum.constant;
    for (const auto& [term, factor] : sum.terms)
      if (!is_inner(term))
        add_term(out.base, term, factor);
      else if (!widen(term, factor, out))
        return std::nullopt;
    erase_if(out.base.terms, [](const auto& t) { return t.second == 0; });
    return out;
  }

  static std::optional<span> unite(const span& a, const std::optional<span>& b) {
    if (!b || a.base.terms.size() != b->base.terms.size()) return std::nullopt;
    for (const auto& [term, factor] : a.base.terms)
      if (b->base.coefficient(term) != factor) return std::nullopt;
    return span{a.base, std::min(a.lo, b->lo), std::max(a.hi, b->hi)};
  }

  buffer buffer_;
  std::unordered_map<expr, const loop_node*, expr_identity_hash, expr_identity_equal> inner_;
  std::vector<std::optional<span>> spans_;
  bool accessed_ = false;
};

/// Elements of a row so that rows of the buffer lie well in the cache.
inline std::int64_t padded_row(std::int64_t row, std::int64_t rows, dtype type) {
  const std::int64_t line = 64 / bytes(type);
  if (rows < 2 || row < line) return row;
  const std::int64_t aligned = (row + line - 1) / line * line;
  if ((aligned - row) * 8 <= row) row = aligned;
  return rows >= 8 && row * bytes(type) % 4096 == 0 ? row + line : row;
}

/// The statement with a smaller buffer, whose indices count from `origin`.
inline stmt counted_from(const std::vector<expr>& origin, const stmt& s, const buffer& from,
                         const buffer& to) {
  return reroute(s, from, to, [&](std::vector<expr> indices) {
    for (std::size_t d = 0; d < indices.size(); ++d)
      if (origin[d]) indices[d] = arith::from_linear(arith::to_linear(indices[d] - origin[d]));
    return indices;
  });
}

class compacter : public arith::scoped_mutator {
 public:
  using scoped_mutator::mutate;
  stmt mutate(const stmt& s) override {
    const allocate_node* n = as_allocate(s);
    if (!n) {
      const loop_node* loop = as_loop(s);
      const bool threads = loop && loop->loop == loop_kind::thread_binding;
      if (threads) around_.push_back(loop);
      stmt out = scoped_mutator::mutate(s);
      if (threads) around_.pop_back();
      return out;
    }
    stmt body = n->body;
    const std::vector<stride_wish> wishes = take_wishes(body);
    access_spans access(n->buffer, known, around_);
    access.visit(body);
    if (!access.accessed() || n->buffer->shape.empty())
      return make_allocate(n->buffer, mutate(body));
    std::vector<expr> shape = n->buffer->shape, origin(shape.size());
    bool changed = false;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const std::optional<span>& touched = access.spans()[d];
      if (!touched) continue;
      const std::int64_t extent = touched->hi - touched->lo + 1;
      if (is_int(shape[d]) && extent >= as_int(shape[d])) continue;
      arith::linear first = touched->base;
      first.constant = touched->lo;
      origin[d] = arith::from_linear(first);
      shape[d] = integer(shape[d].type(), extent);
      changed = true;
    }
    const buffer out = wishes.empty() ? finish(n->buffer, std::move(shape), changed)
                                      : finish(n->buffer, std::move(shape), wishes);
    if (!out) return scoped_mutator::mutate(s);
    return make_allocate(out, mutate(counted_from(origin, body, n->buffer, out)));
  }

 private:
  /// The new buffer, with its rows padded; null when nothing changes.
  static buffer finish(const buffer& b, std::vector<expr> shape, bool changed) {
    std::int64_t rows = 1;
    for (std::size_t d = 0; d + 1 < shape.size(); ++d)
      rows = is_int(shape[d]) ? rows * as_int(shape[d]) : 1;
    if (storage_rank(b->scope) == 0 && is_int(shape.back())) {
      const std::int64_t row = as_int(shape.back()), padded = padded_row(row, rows, b->type);
      changed = changed || padded != row;
      shape.back() = integer(shape.back().type(), padded);
    }
    if (!changed) return {};
    buffer_node node = *b;
    node.shape = std::move(shape);
    node.strides.clear();
    return buffer(new buffer_node(std::move(node)));
  }
  /// The new buffer with the strides that blocks ask for.
  static buffer finish(const buffer& b, std::vector<expr> shape,
                       const std::vector<stride_wish>& wishes) {
    buffer_node node = *b;
    node.strides = wished_strides(shape, wishes);
    node.shape = std::move(shape);
    return buffer(new buffer_node(std::move(node)));
  }

  std::vector<const loop_node*> around_;  // loops on threads
};

}  // namespace tilewright::pass::detail::compact

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::function compact_buffers(const ir::function& f) {
  ir::function out = f;
  out.body = detail::compact::compacter{}.mutate(f.body);
  return out;
}

}  // namespace tilewright::pass
