// Traversal and rewriting of expressions and statements.
//
// Rewriting shares every unchanged subtree: a mutator that changes nothing returns the same node.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <tilewright/ir/stmt.hpp>
#include <tilewright/support/function_ref.hpp>

namespace tilewright::ir {

using var_map = std::unordered_map<expr, expr, expr_identity_hash, expr_identity_equal>;
using var_set = std::unordered_set<expr, expr_identity_hash, expr_identity_equal>;
using buffer_map = std::unordered_map<buffer, buffer>;

/// Reads a tree; override what is of interest and call the base to descend.
class visitor {
 public:
  virtual ~visitor() = default;
  virtual void visit(const expr& e);
  virtual void visit(const stmt& s);
  virtual void visit(const block& b);
};

/// Rebuilds a tree; override what changes and call the base to descend.
class mutator {
 public:
  virtual ~mutator() = default;
  virtual expr mutate(const expr& e);
  virtual stmt mutate(const stmt& s);
  virtual block mutate(const block& b);
  /// Every use of a buffer (loads, stores, regions, allocations) passes here; the base returns it.
  virtual buffer mutate(const buffer& b);
  buffer_region mutate(const buffer_region& r);
  range mutate(const range& r);
};

/// Calls `f` on every expression below, parents first; regions and bindings included.
void for_each_expr(const expr& e, support::function_ref<void(const expr&)> f);
void for_each_expr(const stmt& s, support::function_ref<void(const expr&)> f);
/// Calls `f` on every statement below, parents first, `init` included.
void for_each_stmt(const stmt& s, support::function_ref<void(const stmt&)> f);

/// Whether `f` says so of a statement directly in `s`, the init of a block excepted; in their order, until it does.
template <class F>
bool any_child(const stmt& s, const F& f) {
  switch (s->kind) {
    case stmt_kind::loop: return f(as_loop(s)->body);
    case stmt_kind::block_realize: return f(as_realize(s)->block->body);
    case stmt_kind::seq:
      for (const stmt& child : as_seq(s)->stmts)
        if (f(child)) return true;
      return false;
    case stmt_kind::if_else:
      return f(as_if(s)->then_body) || (as_if(s)->else_body && f(as_if(s)->else_body));
    case stmt_kind::let: return f(as_let(s)->body);
    case stmt_kind::allocate: return f(as_allocate(s)->body);
    case stmt_kind::attribute: return f(as_attribute(s)->body);
    case stmt_kind::while_loop: return f(as_while(s)->body);
    case stmt_kind::store:
    case stmt_kind::evaluate: return false;
  }
  return false;
}
/// Whether `f` says so of a statement in `s`, init blocks included, or of `s`; outermost first, until
/// it does. A plain walk: for questions that are asked often and mostly answered by no.
template <class F>
bool any_stmt(const stmt& s, const F& f) {
  if (!s) return false;
  if (f(s)) return true;
  switch (s->kind) {
    case stmt_kind::loop: return any_stmt(as_loop(s)->body, f);
    case stmt_kind::block_realize:
      return any_stmt(as_realize(s)->block->init, f) || any_stmt(as_realize(s)->block->body, f);
    case stmt_kind::seq:
      for (const stmt& child : as_seq(s)->stmts)
        if (any_stmt(child, f)) return true;
      return false;
    case stmt_kind::if_else:
      return any_stmt(as_if(s)->then_body, f) || any_stmt(as_if(s)->else_body, f);
    case stmt_kind::let: return any_stmt(as_let(s)->body, f);
    case stmt_kind::allocate: return any_stmt(as_allocate(s)->body, f);
    case stmt_kind::attribute: return any_stmt(as_attribute(s)->body, f);
    case stmt_kind::while_loop: return any_stmt(as_while(s)->body, f);
    case stmt_kind::store:
    case stmt_kind::evaluate: return false;
  }
  return false;
}
/// Post-order rewriting: children first, then `f` on the rebuilt node.
expr rewrite(const expr& e, support::function_ref<expr(const expr&)> f);
stmt rewrite(const stmt& s, support::function_ref<expr(const expr&)> on_expr,
             support::function_ref<stmt(const stmt&)> on_stmt);

/// Replaces variables by expressions.
expr substitute(const expr& e, const var_map& map);
stmt substitute(const stmt& s, const var_map& map);
block substitute(const block& b, const var_map& map);
/// Replaces buffers by others of the same rank, in loads, stores, regions and allocations.
stmt replace_buffers(const stmt& s, const buffer_map& map);
block replace_buffers(const block& b, const buffer_map& map);

bool uses_var(const expr& e, const var& v);
bool uses_any(const expr& e, const var_set& vars);
/// Variables in `e` in order of first occurrence.
std::vector<var> free_vars(const expr& e);

/// The conjuncts of a boolean expression; empty for literal true.
std::vector<expr> conjuncts(const expr& e);
expr conjunction(const std::vector<expr>& terms);

}  // namespace tilewright::ir
