#pragma once

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/arith/scoped_visitor.hpp>
#include <tilewright/impl/pass/gpu/pieces.hpp>
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

/// What the accesses to one allocated buffer span.
struct allocation {
  std::size_t depth = 0;  // loops and lets around it
  bool accessed = false;
  std::vector<std::optional<span>> spans;  // [dimensions]; one without a span is kept whole
};

/// The spans of all buffers that a statement allocates, over all their accesses.
class access_spans : public arith::scoped_visitor {
 public:
  explicit access_spans(const stmt& s) { visit(s); }
  using scoped_visitor::visit;

  void visit(const expr& e) override {
    if (e->op == op::load) add(e->buffer, e->args);
    if (is_call_on_pieces(e))
      each_piece(e, [&](const piece& p) { add((*p.first)->buffer, (*p.first)->args, p.count); });
    scoped_visitor::visit(e);
  }

  void visit(const stmt& s) override {
    switch (s->kind) {
      case stmt_kind::store: add(as_store(s)->buffer, as_store(s)->indices); break;
      case stmt_kind::let: return visit_under({as_let(s)->var, nullptr}, s);
      case stmt_kind::loop: return visit_under({as_loop(s)->var, as_loop(s)}, s);
      case stmt_kind::allocate: return visit_allocate(s, as_allocate(s)->buffer);
      default: break;
    }
    scoped_visitor::visit(s);
  }

  /// In the order in which they stand.
  const std::vector<allocation>& all() const { return all_; }

 private:
  struct binder {
    var of;
    const loop_node* loop;  // null: a let
  };

  void visit_under(binder b, const stmt& s) {
    around_.push_back(std::move(b));
    scoped_visitor::visit(s);
    around_.pop_back();
  }

  void visit_allocate(const stmt& s, const buffer& b) {
    alive_.emplace_back(b, all_.size());
    all_.push_back({around_.size(), false, {}});
    scoped_visitor::visit(s);
    alive_.pop_back();
  }

  /// @param count elements side by side, of which the indices name the first
  void add(const buffer& b, const std::vector<expr>& indices, std::size_t count = 1) {
    const auto found = std::find_if(alive_.rbegin(), alive_.rend(),
                                    [&](const auto& each) { return each.first == b; });
    if (found == alive_.rend()) return;
    allocation& a = all_[found->second];
    const auto measured = [&](std::size_t d) {
      std::optional<span> out = measure(indices[d], *b, a.depth);
      if (out && d + 1 == indices.size()) out->hi += static_cast<std::int64_t>(count) - 1;
      return out;
    };
    if (!a.accessed) {
      a.accessed = true;
      for (std::size_t d = 0; d < indices.size(); ++d) a.spans.push_back(measured(d));
      return;
    }
    for (std::size_t d = 0; d < indices.size(); ++d)
      if (a.spans[d]) a.spans[d] = unite(*a.spans[d], measured(d));
  }

  /// What binds a variable in the allocation; threads that share the buffer all count, wherever it is allocated.
  const binder* inner_binder(const expr& v, const buffer_node& b, std::size_t depth) const {
    for (std::size_t i = around_.size(); i-- > 0;)
      if (around_[i].of.same(v))
        return i >= depth || (around_[i].loop && shared_across(b.scope, *around_[i].loop))
                   ? &around_[i]
                   : nullptr;
    return nullptr;
  }
  bool is_inner(const expr& e, const buffer_node& b, std::size_t depth) const {
    if (e->op == op::var) return inner_binder(e, b, depth) != nullptr;
    if (e->op == op::load) return true;  // may change while the buffer lives
    return support::any(e->args, [&](const expr& arg) { return is_inner(arg, b, depth); });
  }

  /// Adds factor * [range of term] to `out`; false when it has no constant range.
  bool widen(const expr& term, std::int64_t factor, const buffer_node& b, std::size_t depth,
             span& out) const {
    const binder* const found = is_var(term) ? inner_binder(term, b, depth) : nullptr;
    const loop_node* loop = found ? found->loop : nullptr;
    std::int64_t lo = 0, hi = 0;
    if (loop && !is_int(loop->min) && !is_inner(loop->min, b, depth)) {
      const arith::bounds extent = known.const_bounds(loop->extent);
      if (!extent.bounded()) return false;
      const arith::linear first = arith::to_linear(loop->min);
      for (const auto& [t, c] : first.terms) add_term(out.base, t, c * factor);
      lo = first.constant;
      hi = lo + std::max<std::int64_t>(extent.hi, 1) - 1;
    } else {
      const arith::bounds range = known.const_bounds(term);
      if (!range.bounded()) return false;
      lo = range.lo;
      hi = range.hi;
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

  std::optional<span> measure(const expr& index, const buffer_node& b, std::size_t depth) const {
    const arith::linear sum = arith::to_linear(known.simplify(index));
    span out;
    out.base.type = index.type();
    out.lo = out.hi = sum.constant;
    for (const auto& [term, factor] : sum.terms)
      if (!is_inner(term, b, depth))
        add_term(out.base, term, factor);
      else if (!widen(term, factor, b, depth, out))
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

  std::vector<allocation> all_;
  std::vector<std::pair<buffer, std::size_t>> alive_;  // and the place in `all_`
  std::vector<binder> around_;                         // loops and lets
};

/// Elements of a row so that rows of the buffer lie well in the cache.
inline std::int64_t padded_row(std::int64_t row, std::int64_t rows, dtype type) {
  const std::int64_t line = 64 / bytes(type);
  if (rows < 2 || row < line) return row;
  const std::int64_t aligned = (row + line - 1) / line * line;
  if ((aligned - row) * 8 <= row) row = aligned;
  return rows >= 8 && row * bytes(type) % 4096 == 0 ? row + line : row;
}

class compacter : public rerouting {
 public:
  explicit compacter(const stmt& s) : touched_(s) {}
  using rerouting::mutate;
  stmt mutate(const stmt& s) override {
    const allocate_node* n = as_allocate(s);
    if (!n) return rerouting::mutate(s);
    const allocation& access = touched_.all()[next_++];
    moved_.erase(n->buffer);
    stmt body = n->body;
    const std::vector<stride_wish> wishes = take_wishes(body);
    if (!access.accessed || n->buffer->shape.empty()) return make_allocate(n->buffer, mutate(body));
    std::vector<expr> shape = n->buffer->shape, origin(shape.size());
    bool changed = false;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const std::optional<span>& touched = access.spans[d];
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
    if (!out) return rerouting::mutate(s);
    moved_.insert_or_assign(n->buffer, smaller{out, std::move(origin)});
    return make_allocate(out, mutate(body));
  }

 private:
  /// A smaller buffer, whose indices count from `origin`; null where they count from 0.
  struct smaller {
    buffer to;
    std::vector<expr> origin;
  };
  bool reroutes(const buffer& b) const override { return moved_.count(b) != 0; }
  buffer_element rerouted(const buffer& b, std::vector<expr> indices) override {
    const smaller& now = moved_.at(b);
    for (std::size_t d = 0; d < indices.size(); ++d)
      if (now.origin[d])
        indices[d] = arith::from_linear(arith::to_linear(indices[d] - now.origin[d]));
    return {now.to, std::move(indices)};
  }

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

  access_spans touched_;
  std::size_t next_ = 0;  // allocation, as they stand
  std::unordered_map<buffer, smaller> moved_;
};

}  // namespace tilewright::pass::detail::compact

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::function compact_buffers(const ir::function& f) {
  ir::function out = f;
  out.body = detail::compact::compacter(f.body).mutate(f.body);
  return out;
}

}  // namespace tilewright::pass
