// Products of warp groups in the IR, from where fragments are spread to where kernels are printed.
//
//   attribute group_product, n:               64 x n x 16, which 128 threads multiply together in the background
//     for r, c, k in grid(64, n, 16):         what is read of shared memory, while it matters who touches what
//       tw_multiply_group(C[..] .., A[r, k], B[k, c])
//   tw_multiply_group(C[0], A[0, 0], B[0, 0], n, p, q)   later: the first elements; p, q: see `panel_bytes`
//   tw_fence_async(), tw_fence_products(), tw_commit_products(), tw_wait_products(count), tw_hold_sums(C[0], count)
//                                             what order_products places around them
#pragma once

#include <cstdint>
#include <string>

#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/walk.hpp>

namespace tilewright::pass::detail::groups {

using namespace tilewright::ir;

inline constexpr const char *product_key = "tilewright.group_product",
                            *product_name = "tw_multiply_group";
/// Of a loop: the youngest batch of products may go on while the next iteration begins.
inline constexpr const char* products_note = "tilewright.products_in_flight";
/// Shared memory that warp groups multiply: rows of 128 bytes, swizzled; longer ones in panels, one behind the other.
inline constexpr const char* panels_scope = "shared.panels";
inline constexpr std::int64_t panel_row_bytes = 128, panel_alignment = 1024;
inline constexpr std::int64_t rows = 64, steps = 16, lanes = 128;

inline bool is_product(const stmt& s) {
  const attribute_node* n = as_attribute(s);
  return n && n->key == product_key;
}
inline bool has_product(const stmt& s) { return any_stmt(s, is_product); }

/// Products, and nothing besides.
inline bool is_batch(const stmt& s) {
  if (is_product(s)) return true;
  if (const loop_node* loop = as_loop(s)) return is_batch(loop->body);
  const seq_node* seq = as_seq(s);
  if (!seq || seq->stmts.empty()) return false;
  for (const stmt& child : seq->stmts)
    if (!is_batch(child)) return false;
  return true;
}

inline bool is_product_call(const expr& e) { return e->op == op::call && e->name == product_name; }

/// Calls whose arguments behind the pieces are numbers of their names: tw_hold_sums<64>(C, 0).
inline bool is_numbered_call(const expr& e) {
  if (e->op != op::call) return false;
  for (const char* name : {product_name, "tw_hold_sums", "tw_wait_products", "tw_wait_stores",
                           "tw_fewer_registers", "tw_more_registers", "tw_barrier_of"})
    if (e->name == name) return true;
  return false;
}
inline bool is_plain_call(const expr& e) {
  return e->op == op::call && (e->name == "tw_fence_async" || e->name == "tw_fence_products" ||
                               e->name == "tw_commit_products");
}

}  // namespace tilewright::pass::detail::groups
