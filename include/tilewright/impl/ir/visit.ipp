#pragma once

#include <tilewright/impl/ir/operands.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::ir {

TILEWRIGHT_INLINE void visitor::visit(const expr& e) {
  for (const expr& arg : e->args) visit(arg);
}

TILEWRIGHT_INLINE void visitor::visit(const stmt& s) {
  switch (s->kind) {
    case stmt_kind::loop: {
      const loop_node& n = *as_loop(s);
      visit(n.min);
      visit(n.extent);
      visit(n.body);
      break;
    }
    case stmt_kind::block_realize: {
      const block_realize_node& n = *as_realize(s);
      for (const expr& v : n.values) visit(v);
      visit(n.predicate);
      visit(n.block);
      break;
    }
    case stmt_kind::seq:
      for (const stmt& child : as_seq(s)->stmts) visit(child);
      break;
    case stmt_kind::store: {
      const store_node& n = *as_store(s);
      for (const expr& i : n.indices) visit(i);
      visit(n.value);
      break;
    }
    case stmt_kind::if_else: {
      const if_node& n = *as_if(s);
      visit(n.condition);
      visit(n.then_body);
      if (n.else_body) visit(n.else_body);
      break;
    }
    case stmt_kind::let: {
      const let_node& n = *as_let(s);
      visit(n.value);
      visit(n.body);
      break;
    }
    case stmt_kind::evaluate: visit(as_evaluate(s)->value); break;
    case stmt_kind::allocate: visit(as_allocate(s)->body); break;
    case stmt_kind::while_loop:
      visit(as_while(s)->condition);
      visit(as_while(s)->body);
      break;
    case stmt_kind::attribute: {
      const attribute_node& n = *as_attribute(s);
      visit(n.node);
      visit(n.value);
      visit(n.body);
      break;
    }
  }
}

TILEWRIGHT_INLINE void visitor::visit(const block& b) {
  const auto visit_range = [this](const range& r) {
    visit(r.min);
    visit(r.extent);
  };
  for (const iter_var& iter : b->iters) visit_range(iter.dom);
  for (const buffer_region& r : b->reads)
    for (const range& dim : r.box) visit_range(dim);
  for (const buffer_region& r : b->writes)
    for (const range& dim : r.box) visit_range(dim);
  for (const match_buffer& m : b->match_buffers)
    for (const range& dim : m.source.box) visit_range(dim);
  if (b->init) visit(b->init);
  visit(b->body);
}

namespace detail {

inline bool same(const expr& a, const expr& b) { return a.same(b); }
inline bool same(const stmt& a, const stmt& b) { return a == b; }

/// What `f` makes of every node; empty when that is the list as it is, which costs no memory then.
template <class Node, class F>
std::vector<Node> changed_list(const std::vector<Node>& list, const F& f) {
  std::vector<Node> out;
  for (std::size_t i = 0; i < list.size(); ++i) {
    Node next = f(list[i]);
    if (out.empty()) {
      if (same(next, list[i])) continue;
      out.reserve(list.size());
      out.assign(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(i));
    }
    out.push_back(std::move(next));
  }
  return out;
}

}  // namespace detail

TILEWRIGHT_INLINE expr mutator::mutate(const expr& e) {
  if (e->op == op::data) {
    const buffer of = mutate(e->buffer);
    return of == e->buffer ? e : data(of);
  }
  if (e->args.empty() && e->op != op::load) return e;
  if (detail::has_two_operands(e->op)) {
    const expr a = mutate(e->args[0]), b = mutate(e->args[1]);
    return detail::same(a, e->args[0]) && detail::same(b, e->args[1])
               ? e
               : detail::with_operands(e, a, b);
  }
  std::vector<expr> args =
      detail::changed_list(e->args, [this](const expr& arg) { return mutate(arg); });
  if (e->op == op::load) {
    buffer to = mutate(e->buffer);
    if (to != e->buffer) return load(to, args.empty() ? e->args : std::move(args));
  }
  return args.empty() ? e : with_args(e, std::move(args));
}

TILEWRIGHT_INLINE range mutator::mutate(const range& r) {
  return {mutate(r.min), mutate(r.extent)};
}

TILEWRIGHT_INLINE buffer mutator::mutate(const buffer& b) { return b; }

TILEWRIGHT_INLINE buffer_region mutator::mutate(const buffer_region& r) {
  buffer_region out{mutate(r.buffer), {}};
  out.box.reserve(r.box.size());
  for (const range& dim : r.box) out.box.push_back(mutate(dim));
  return out;
}

namespace detail {

inline bool same(const range& a, const range& b) {
  return a.min.same(b.min) && a.extent.same(b.extent);
}

inline bool same(const buffer_region& a, const buffer_region& b) {
  if (a.buffer != b.buffer) return false;
  for (std::size_t i = 0; i < a.box.size(); ++i)
    if (!same(a.box[i], b.box[i])) return false;
  return true;
}

}  // namespace detail

TILEWRIGHT_INLINE stmt mutator::mutate(const stmt& s) {
  const auto on_expr = [this](const expr& e) { return mutate(e); };
  switch (s->kind) {
    case stmt_kind::loop: {
      const loop_node& n = *as_loop(s);
      expr min = mutate(n.min), extent = mutate(n.extent);
      stmt body = mutate(n.body);
      if (min.same(n.min) && extent.same(n.extent) && body == n.body) return s;
      auto* out = new loop_node(n);
      out->min = std::move(min);
      out->extent = std::move(extent);
      out->body = std::move(body);
      return stmt(out);
    }
    case stmt_kind::block_realize: {
      const block_realize_node& n = *as_realize(s);
      std::vector<expr> values = detail::changed_list(n.values, on_expr);
      expr predicate = mutate(n.predicate);
      block b = mutate(n.block);
      if (values.empty() && predicate.same(n.predicate) && b == n.block) return s;
      return make_realize(values.empty() ? n.values : std::move(values), std::move(predicate),
                          std::move(b));
    }
    case stmt_kind::seq: {
      const seq_node& n = *as_seq(s);
      std::vector<stmt> stmts =
          detail::changed_list(n.stmts, [this](const stmt& child) { return mutate(child); });
      return stmts.empty() ? s : make_seq(std::move(stmts));
    }
    case stmt_kind::store: {
      const store_node& n = *as_store(s);
      buffer to = mutate(n.buffer);
      std::vector<expr> indices = detail::changed_list(n.indices, on_expr);
      expr value = mutate(n.value);
      if (to == n.buffer && indices.empty() && value.same(n.value)) return s;
      return make_store(std::move(to), indices.empty() ? n.indices : std::move(indices),
                        std::move(value));
    }
    case stmt_kind::if_else: {
      const if_node& n = *as_if(s);
      expr condition = mutate(n.condition);
      stmt then_body = mutate(n.then_body);
      stmt else_body = n.else_body ? mutate(n.else_body) : stmt{};
      if (condition.same(n.condition) && then_body == n.then_body && else_body == n.else_body)
        return s;
      return make_if(std::move(condition), std::move(then_body), std::move(else_body));
    }
    case stmt_kind::let: {
      const let_node& n = *as_let(s);
      expr value = mutate(n.value);
      stmt body = mutate(n.body);
      if (value.same(n.value) && body == n.body) return s;
      return make_let(n.var, std::move(value), std::move(body));
    }
    case stmt_kind::evaluate: {
      const evaluate_node& n = *as_evaluate(s);
      expr value = mutate(n.value);
      return value.same(n.value) ? s : make_evaluate(std::move(value));
    }
    case stmt_kind::allocate: {
      const allocate_node& n = *as_allocate(s);
      buffer b = mutate(n.buffer);
      stmt body = mutate(n.body);
      return b == n.buffer && body == n.body ? s : make_allocate(std::move(b), std::move(body));
    }
    case stmt_kind::while_loop: {
      const while_node& n = *as_while(s);
      expr condition = mutate(n.condition);
      stmt body = mutate(n.body);
      return condition.same(n.condition) && body == n.body
                 ? s
                 : make_while(std::move(condition), std::move(body));
    }
    case stmt_kind::attribute: {
      const attribute_node& n = *as_attribute(s);
      expr about = mutate(n.node), value = mutate(n.value);
      stmt body = mutate(n.body);
      if (about.same(n.node) && value.same(n.value) && body == n.body) return s;
      return make_attribute(std::move(about), n.key, std::move(value), std::move(body));
    }
  }
  throw internal_error("mutator met an unknown statement");
}

TILEWRIGHT_INLINE block mutator::mutate(const block& b) {
  block_node out = *b;
  bool changed = false;
  const auto update_regions = [&](std::vector<buffer_region>& regions) {
    for (buffer_region& r : regions) {
      buffer_region next = mutate(r);
      if (detail::same(next, r)) continue;
      changed = true;
      r = std::move(next);
    }
  };
  for (iter_var& iter : out.iters) {
    range next = mutate(iter.dom);
    if (detail::same(next, iter.dom)) continue;
    changed = true;
    iter.dom = std::move(next);
  }
  update_regions(out.reads);
  update_regions(out.writes);
  for (buffer& alloc : out.alloc_buffers) {
    buffer next = mutate(alloc);
    changed = changed || next != alloc;
    alloc = std::move(next);
  }
  for (match_buffer& m : out.match_buffers) {
    buffer_region next = mutate(m.source);
    buffer alias = mutate(m.buffer);
    changed = changed || alias != m.buffer || !detail::same(next, m.source);
    m.source = std::move(next);
    m.buffer = std::move(alias);
  }
  if (b->init) out.init = mutate(b->init);
  out.body = mutate(b->body);
  if (!changed && out.init == b->init && out.body == b->body) return b;
  return make_block(std::move(out));
}

namespace detail {

struct function_visitor : visitor {
  const support::function_ref<void(const expr&)>* on_expr = nullptr;
  const support::function_ref<void(const stmt&)>* on_stmt = nullptr;
  using visitor::visit;
  void visit(const expr& e) override {
    if (!on_expr) return;
    (*on_expr)(e);
    visitor::visit(e);
  }
  void visit(const stmt& s) override {
    if (on_stmt) (*on_stmt)(s);
    visitor::visit(s);
  }
  void visit(const block& b) override {
    if (on_expr) return visitor::visit(b);
    if (b->init) visit(b->init);  // regions and domains hold no statement
    visit(b->body);
  }
};

struct function_mutator : mutator {
  const support::function_ref<expr(const expr&)>* on_expr = nullptr;
  const support::function_ref<stmt(const stmt&)>* on_stmt = nullptr;
  using mutator::mutate;
  expr mutate(const expr& e) override { return (*on_expr)(mutator::mutate(e)); }
  stmt mutate(const stmt& s) override {
    stmt out = mutator::mutate(s);
    return on_stmt ? (*on_stmt)(out) : out;
  }
};

struct substitution : mutator {
  const var_map& map;
  explicit substitution(const var_map& m) : map(m) {}
  using mutator::mutate;
  expr mutate(const expr& e) override {
    if (e->op != op::var) return mutator::mutate(e);
    const auto found = map.find(e);
    return found == map.end() ? e : found->second;
  }
};

struct buffer_replacement : mutator {
  const buffer_map& map;
  explicit buffer_replacement(const buffer_map& m) : map(m) {}
  using mutator::mutate;
  buffer mutate(const buffer& b) override {
    const auto found = map.find(b);
    return found == map.end() ? b : found->second;
  }
};

}  // namespace detail

TILEWRIGHT_INLINE void for_each_expr(const expr& e, support::function_ref<void(const expr&)> f) {
  detail::function_visitor v;
  v.on_expr = &f;
  v.visit(e);
}

TILEWRIGHT_INLINE void for_each_expr(const stmt& s, support::function_ref<void(const expr&)> f) {
  detail::function_visitor v;
  v.on_expr = &f;
  v.visit(s);
}

TILEWRIGHT_INLINE void for_each_stmt(const stmt& s, support::function_ref<void(const stmt&)> f) {
  detail::function_visitor v;
  v.on_stmt = &f;
  v.visit(s);
}

TILEWRIGHT_INLINE expr rewrite(const expr& e, support::function_ref<expr(const expr&)> f) {
  detail::function_mutator m;
  m.on_expr = &f;
  return m.mutate(e);
}

TILEWRIGHT_INLINE stmt rewrite(const stmt& s, support::function_ref<expr(const expr&)> on_expr,
                               support::function_ref<stmt(const stmt&)> on_stmt) {
  detail::function_mutator m;
  m.on_expr = &on_expr;
  m.on_stmt = &on_stmt;
  return m.mutate(s);
}

TILEWRIGHT_INLINE expr substitute(const expr& e, const var_map& map) {
  return map.empty() ? e : detail::substitution(map).mutate(e);
}
TILEWRIGHT_INLINE stmt substitute(const stmt& s, const var_map& map) {
  return map.empty() ? s : detail::substitution(map).mutate(s);
}
TILEWRIGHT_INLINE block substitute(const block& b, const var_map& map) {
  return map.empty() ? b : detail::substitution(map).mutate(b);
}
TILEWRIGHT_INLINE stmt replace_buffers(const stmt& s, const buffer_map& map) {
  return map.empty() ? s : detail::buffer_replacement(map).mutate(s);
}
TILEWRIGHT_INLINE block replace_buffers(const block& b, const buffer_map& map) {
  return map.empty() ? b : detail::buffer_replacement(map).mutate(b);
}

TILEWRIGHT_INLINE bool uses_var(const expr& e, const var& v) {
  if (e.same(v)) return true;
  for (const expr& arg : e->args)
    if (uses_var(arg, v)) return true;
  return false;
}

TILEWRIGHT_INLINE bool uses_any(const expr& e, const var_set& vars) {
  if (e->op == op::var) return vars.count(e) != 0;
  for (const expr& arg : e->args)
    if (uses_any(arg, vars)) return true;
  return false;
}

TILEWRIGHT_INLINE std::vector<var> free_vars(const expr& e) {
  std::vector<var> out;
  var_set seen;
  for_each_expr(e, [&](const expr& x) {
    if (x->op == op::var && seen.insert(x).second) out.push_back(x);
  });
  return out;
}

TILEWRIGHT_INLINE std::vector<expr> conjuncts(const expr& e) {
  if (is_true(e)) return {};
  if (e->op != op::logical_and) return {e};
  std::vector<expr> out = conjuncts(e->args[0]);
  for (expr& term : conjuncts(e->args[1])) out.push_back(std::move(term));
  return out;
}

TILEWRIGHT_INLINE expr conjunction(const std::vector<expr>& terms) {
  expr out = boolean(true);
  for (const expr& term : terms) out = logical_and(out, term);
  return out;
}

}  // namespace tilewright::ir
