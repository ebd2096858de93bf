// What statements do with the fragments of a warp or a warp group: memory that tensor cores read and write, and the products
// of it.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include <tilewright/ir/storage_scope.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::pass::detail::fragments {

using namespace tilewright::ir;

/// Sums of a warp group, whose operands stay in shared memory.
inline bool is_group_sum(const buffer& b) { return b->scope == "wgmma.accumulator"; }
inline bool is_fragment(const buffer& b) {
  return b->scope.rfind("wmma.", 0) == 0 || is_group_sum(b);
}
inline bool is_sum(const buffer& b) { return b->scope == "wmma.accumulator" || is_group_sum(b); }

[[noreturn]] inline void refuse(const buffer& b, const std::string& what) {
  throw build_error("fragment " + b->name + " of scope " + b->scope + " " + what);
}

inline bool touches_fragments(const stmt& s) {
  bool found = false;
  for_each_stmt(s, [&](const stmt& x) {
    if (const store_node* to = as_store(x)) found = found || is_fragment(to->buffer);
  });
  for_each_expr(
      s, [&](const expr& e) { found = found || (e->op == op::load && is_fragment(e->buffer)); });
  return found;
}

/// C = C + A * B on fragments.
struct product {
  expr a, b;  // loads
};

inline expr uncast(const expr& e) { return e->op == op::cast ? uncast(e->args[0]) : e; }

inline std::optional<product> product_of(const store_node& s) {
  if (!is_sum(s.buffer) || s.value->op != op::add) return std::nullopt;
  for (const int sum : {0, 1}) {
    const expr before = s.value->args[static_cast<std::size_t>(sum)];
    const expr& term = s.value->args[static_cast<std::size_t>(1 - sum)];
    if (before->op != op::load || before->buffer != s.buffer || term->op != op::mul ||
        !same_indices(before->args, s.indices))
      continue;
    expr a = uncast(term->args[0]), b = uncast(term->args[1]);
    if (a->op != op::load || b->op != op::load) continue;
    if (is_group_sum(s.buffer)) {  // which is which, loops say
      if (storage_rank(a->buffer->scope) != 1 || storage_rank(b->buffer->scope) != 1) continue;
      return product{a, b};
    }
    if (a->buffer->scope == "wmma.matrix_b") std::swap(a, b);
    if (a->buffer->scope == "wmma.matrix_a" && b->buffer->scope == "wmma.matrix_b")
      return product{a, b};
  }
  return std::nullopt;
}

/// Types of operands and sums that there are products for.
inline bool has_product(dtype in, dtype sum) {
  return (in == dtype::f16 && (sum == dtype::f16 || sum == dtype::f32)) ||
         (in == dtype::bf16 && sum == dtype::f32) || (in == dtype::i8 && sum == dtype::i32) ||
         (in == dtype::f32 && sum == dtype::f32);  // factors are rounded to tf32
}

}  // namespace tilewright::pass::detail::fragments
