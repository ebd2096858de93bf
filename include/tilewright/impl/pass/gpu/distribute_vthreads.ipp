#pragma once

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/ir/rerouting.hpp>
#include <tilewright/ir/storage_scope.hpp>
#include <tilewright/pass/gpu/distribute_vthreads.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::pass::detail::vthreads {

using namespace tilewright::ir;

inline bool is_vthread(const loop_node& loop) {
  return loop.loop == loop_kind::thread_binding && loop.thread_tag.rfind("vthread", 0) == 0;
}

/// Indices of every access to the buffers that a statement allocates.
class accesses : public visitor {
 public:
  using visitor::visit;
  explicit accesses(const stmt& s) {
    for_each_stmt(s, [&](const stmt& x) {
      if (const allocate_node* n = as_allocate(x))
        if (storage_rank(n->buffer->scope) != 1) of[n->buffer];
      if (const loop_node* l = as_loop(x)) loops[l->var] = l;
    });
    visit(s);
  }
  void visit(const expr& e) override {
    if (e->op == op::load) add(e->buffer, e->args);
    visitor::visit(e);
  }
  void visit(const stmt& s) override {
    if (const store_node* n = as_store(s)) add(n->buffer, n->indices);
    visitor::visit(s);
  }

  std::unordered_map<buffer, std::vector<std::vector<expr>>> of;
  std::unordered_map<expr, const loop_node*, expr_identity_hash, expr_identity_equal> loops;

 private:
  void add(const buffer& b, const std::vector<expr>& indices) {
    if (const auto found = of.find(b); found != of.end()) found->second.push_back(indices);
  }
};

/// One dimension of a buffer: step * v + what loops outside add + [lo, hi].
struct span {
  std::int64_t step = 0, lo = 0, hi = 0;
  arith::linear outside;
};

class spreader {
 public:
  explicit spreader(const loop_node& loop) : v_(loop.var), loop_(loop), uses_(loop.body) {
    find_differing(loop.body);
  }

  stmt run() { return spread(loop_.body); }

 private:
  std::optional<span> measure(const expr& index) const {
    const arith::linear sum = arith::to_linear(index);
    span out;
    out.lo = out.hi = sum.constant;
    for (const auto& [term, factor] : sum.terms) {
      if (term.same(v_)) {
        out.step = factor;
      } else if (const auto found = uses_.loops.find(term); found != uses_.loops.end()) {
        const loop_node& l = *found->second;
        if (!is_int(l.min) || !is_int(l.extent)) return std::nullopt;
        const std::int64_t first = as_int(l.min), last = first + as_int(l.extent) - 1;
        out.lo += factor * (factor > 0 ? first : last);
        out.hi += factor * (factor > 0 ? last : first);
      } else if (is_var(term)) {
        out.outside.terms.push_back({term, factor});
      } else {
        return std::nullopt;
      }
    }
    return out;
  }

  /// Whether virtual threads touch different elements in the dimension.
  bool apart_along(const std::vector<std::vector<expr>>& all, std::size_t d) const {
    std::optional<span> whole;
    for (const std::vector<expr>& indices : all) {
      const std::optional<span> s = measure(indices[d]);
      if (!s || s->step == 0) return false;
      if (!whole) {
        whole = s;
        continue;
      }
      if (s->step != whole->step || s->outside.terms.size() != whole->outside.terms.size())
        return false;
      for (const auto& [term, factor] : s->outside.terms)
        if (whole->outside.coefficient(term) != factor) return false;
      whole->lo = std::min(whole->lo, s->lo);
      whole->hi = std::max(whole->hi, s->hi);
    }
    return whole && whole->hi - whole->lo < std::abs(whole->step);
  }
  bool apart(const buffer& b) const {
    const auto& all = uses_.of.at(b);
    for (std::size_t d = 0; d < b->shape.size(); ++d)
      if (apart_along(all, d)) return true;
    return false;
  }

  bool differs(const expr& e) const {
    bool out = false;
    for_each_expr(e, [&](const expr& x) {
      out = out || x.same(v_) || differing_vars_.count(x) ||
            (x->op == op::load && differing_.count(x->buffer));
    });
    return out;
  }

  bool differs(const stmt& s) const {
    bool out = false;
    for_each_expr(s, [&](const expr& e) {
      out = out || e.same(v_) || (e->op == op::load && differing_.count(e->buffer));
    });
    for_each_stmt(s, [&](const stmt& x) {
      if (const store_node* n = as_store(x)) out = out || differing_.count(n->buffer);
    });
    return out;
  }

  /// Own buffers in which virtual threads have different values, transitively.
  void find_differing(const stmt& body) {
    std::size_t before;
    do {
      before = differing_.size() + differing_vars_.size();
      mark(body, false);
    } while (differing_.size() + differing_vars_.size() != before);
  }
  void mark(const stmt& s, bool under) {
    switch (s->kind) {
      case stmt_kind::seq:
        for (const stmt& child : as_seq(s)->stmts) mark(child, under);
        return;
      case stmt_kind::loop: {
        const loop_node& n = *as_loop(s);
        const bool mine = differs(n.min) || differs(n.extent);
        if (mine) differing_vars_.insert(n.var);
        return mark(n.body, under || mine);
      }
      case stmt_kind::if_else: {
        const if_node& n = *as_if(s);
        const bool mine = under || differs(n.condition);
        mark(n.then_body, mine);
        if (n.else_body) mark(n.else_body, mine);
        return;
      }
      case stmt_kind::let:
        if (differs(as_let(s)->value)) differing_vars_.insert(as_let(s)->var);
        return mark(as_let(s)->body, under);
      case stmt_kind::allocate: return mark(as_allocate(s)->body, under);
      case stmt_kind::attribute: return mark(as_attribute(s)->body, under);
      case stmt_kind::while_loop:
        return mark(as_while(s)->body, under || differs(as_while(s)->condition));
      case stmt_kind::store: {
        const store_node& n = *as_store(s);
        bool mine = under || differs(n.value);
        for (const expr& i : n.indices) mine = mine || differs(i);
        if (mine && uses_.of.count(n.buffer)) differing_.insert(n.buffer);
        return;
      }
      default: return;
    }
  }

  stmt spread(const stmt& s) {
    if (!differs(s)) return s;
    switch (s->kind) {
      case stmt_kind::seq: {
        std::vector<stmt> out;
        for (const stmt& child : as_seq(s)->stmts) out.push_back(spread(child));
        return make_seq(std::move(out));
      }
      case stmt_kind::loop: {
        const loop_node& n = *as_loop(s);
        return differs(n.min) || differs(n.extent) ? each(s) : with_body(n, spread(n.body));
      }
      case stmt_kind::if_else: {
        const if_node& n = *as_if(s);
        if (differs(n.condition)) return each(s);
        return make_if(n.condition, spread(n.then_body),
                       n.else_body ? spread(n.else_body) : stmt{});
      }
      case stmt_kind::let: {
        const let_node& n = *as_let(s);
        return differs(n.value) ? each(s) : make_let(n.var, n.value, spread(n.body));
      }
      case stmt_kind::attribute: {
        const attribute_node& n = *as_attribute(s);
        return make_attribute(n.node, n.key, n.value, spread(n.body));
      }
      case stmt_kind::allocate: return spread_allocation(*as_allocate(s));
      default: return each(s);
    }
  }

  stmt each(const stmt& s) const {
    const var v = make_var(v_->name, v_.type());
    return make_loop(v, loop_.min, loop_.extent, rename_loops(substitute(s, {{v_, v}})),
                     loop_kind::unrolled);
  }

  stmt spread_allocation(const allocate_node& n) {
    if (!differing_.count(n.buffer) || apart(n.buffer))
      return make_allocate(n.buffer, spread(n.body));
    buffer_node node = *n.buffer;
    node.shape.insert(node.shape.begin(), cast(dtype::i32, loop_.extent));
    node.strides.clear();
    const buffer wide(new buffer_node(std::move(node)));
    differing_.insert(wide);
    const expr mine = cast(dtype::i32, v_ - loop_.min);
    const stmt body = reroute(n.body, n.buffer, wide, [&](std::vector<expr> indices) {
      indices.insert(indices.begin(), mine);
      return indices;
    });
    return make_allocate(wide, spread(body));
  }

  var v_;
  const loop_node& loop_;
  accesses uses_;
  buffer_set differing_;
  var_set differing_vars_;
};

class distributor : public mutator {
 public:
  using mutator::mutate;
  stmt mutate(const stmt& s) override {
    stmt out = mutator::mutate(s);
    const loop_node* loop = as_loop(out);
    if (!loop || !is_vthread(*loop)) return out;
    if (!is_int(loop->min) || !is_int(loop->extent))
      throw build_error("loop " + loop->var->name + " is bound to " + loop->thread_tag +
                        " and has an extent that is no constant; bind all extents");
    return spreader(*loop).run();
  }
};

}  // namespace tilewright::pass::detail::vthreads

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::function distribute_vthreads(const ir::function& f) {
  ir::function out = f;
  out.body = detail::vthreads::distributor{}.mutate(f.body);
  return out;
}

}  // namespace tilewright::pass
