#pragma once

#include <tilewright/ir/analysis/atomic_update.hpp>
#include <tilewright/ir/any_expr.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/storage_scope.hpp>

namespace tilewright::ir {
namespace detail::atomic_updates {

inline bool loads(const expr& e, const buffer& b) {
  return any_expr(e, [&](const expr& x) { return x->op == op::load && x->buffer == b; });
}

/// Whether the expression is the element that the store replaces.
inline bool is_old(const expr& e, const store_node& s) {
  if (e->op != op::load || e->buffer != s.buffer || e->args.size() != s.indices.size())
    return false;
  for (std::size_t d = 0; d < s.indices.size(); ++d)
    if (!equal(e->args[d], s.indices[d])) return false;
  return true;
}

/// A sum without the old element; null where that is no term of it. Simplification puts terms of integers in another
/// order; sums of floats stay as they are written.
inline expr without_old(const expr& e, const store_node& s) {
  if (e->op != op::add && e->op != op::sub) return {};
  const expr &a = e->args[0], &b = e->args[1];
  const bool adds = e->op == op::add;
  if (is_old(a, s)) return adds ? b : -b;
  if (adds && is_old(b, s)) return a;
  if (is_float(e.type())) return {};
  if (const expr rest = without_old(a, s)) return adds ? rest + b : rest - b;
  if (const expr rest = adds ? without_old(b, s) : expr{}) return a + rest;
  return {};
}

}  // namespace detail::atomic_updates

TILEWRIGHT_INLINE bool has_atomic_addition(dtype type) {
  switch (type) {
    case dtype::i32:
    case dtype::u32:
    case dtype::i64:
    case dtype::u64:
    case dtype::f16:
    case dtype::f32:
    case dtype::f64: return true;
    default: return false;
  }
}

TILEWRIGHT_INLINE expr addend(const store_node& s) {
  namespace a = detail::atomic_updates;
  const expr out = a::without_old(s.value, s);
  if (!out || a::loads(out, s.buffer)) return {};
  for (const expr& index : s.indices)
    if (a::loads(index, s.buffer)) return {};
  return out;
}

TILEWRIGHT_INLINE const store_node* only_addition(const stmt& s) {
  namespace a = detail::atomic_updates;
  if (!s) return nullptr;
  switch (s->kind) {
    case stmt_kind::store: return addend(*as_store(s)) ? as_store(s) : nullptr;
    case stmt_kind::attribute: return only_addition(as_attribute(s)->body);
    case stmt_kind::let: {
      const store_node* out = only_addition(as_let(s)->body);
      return out && !a::loads(as_let(s)->value, out->buffer) ? out : nullptr;
    }
    case stmt_kind::if_else: {
      if (as_if(s)->else_body) return nullptr;
      const store_node* out = only_addition(as_if(s)->then_body);
      return out && !a::loads(as_if(s)->condition, out->buffer) ? out : nullptr;
    }
    default: return nullptr;
  }
}

TILEWRIGHT_INLINE bool adds_atomically(const block_node& b) {
  if (!has_atomic_note(b.annotations) || b.init) return false;
  const store_node* to = only_addition(b.body);
  return to && has_atomic_addition(to->buffer->type) && storage_rank(to->buffer->scope) == 0;
}

}  // namespace tilewright::ir
