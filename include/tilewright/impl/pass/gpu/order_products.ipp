#pragma once

#include <utility>
#include <vector>

#include <tilewright/impl/pass/gpu/async_copy.hpp>
#include <tilewright/impl/pass/gpu/barrier.hpp>
#include <tilewright/impl/pass/gpu/groups/group_product.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/gpu/order_products.hpp>
#include <tilewright/pass/gpu/unify_threads.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::pass::detail::groups {

inline stmt does(const char* name, std::vector<expr> arguments = {}) {
  return make_evaluate(call(dtype::i32, name, std::move(arguments)));
}
inline expr number(std::int64_t n) { return integer(dtype::i32, n); }

/// Whether the statement stores to what warp groups multiply. Copies in the background do so where they are waited for.
inline bool fills_panels(const stmt& s) {
  return any_stmt(s, [](const stmt& x) {
    const store_node* to = as_store(x);
    const attribute_node* wait = as_attribute(x);
    if (wait && wait->key == async_copies::wait_key)
      for (const buffer& b : stored_buffers(wait->body))
        if (b->scope == panels_scope) return true;
    return to && to->buffer->scope == panels_scope;
  });
}

class orderer : public mutator {
 public:
  using mutator::mutate;

  stmt mutate(const stmt& s) override {
    if (is_batch(s)) return batch(s, false);
    switch (s->kind) {
      case stmt_kind::seq: return sequence(*as_seq(s));
      case stmt_kind::loop: return loop(*as_loop(s));
      case stmt_kind::if_else:
        if (has_product(s))
          throw build_error(
              "products of a warp group stand under a condition, on which not all of its threads "
              "may agree");
        break;
      case stmt_kind::store: unfenced_ = unfenced_ || fills_panels(s); return s;
      case stmt_kind::attribute:
        if (as_attribute(s)->key != async_copies::wait_key) break;
        unfenced_ = unfenced_ || fills_panels(s);
        return s;
      case stmt_kind::evaluate:
        if (!is_barrier(s) || !std::exchange(unfenced_, false)) return s;
        return make_seq({does("tw_fence_async"), s});
      default: break;
    }
    return mutator::mutate(s);
  }

 private:
  /// Products side by side are one batch.
  stmt sequence(const seq_node& seq) {
    std::vector<stmt> out, side_by_side;
    const auto end_batch = [&] {
      if (side_by_side.empty()) return;
      out.push_back(batch(make_seq(std::exchange(side_by_side, {})), in_flight_));
    };
    for (const stmt& child : seq.stmts) {
      if (is_batch(child)) {
        side_by_side.push_back(child);
        continue;
      }
      end_batch();
      out.push_back(mutate(child));
    }
    end_batch();
    return make_seq(std::move(out));
  }

  stmt loop(const loop_node& n) {
    unfenced_ = unfenced_ || fills_panels(n.body);  // by the iteration before
    const bool goes_on = n.annotations.count(products_note) != 0;
    if (!goes_on) {
      const bool before = std::exchange(in_flight_, false);
      stmt body = mutate(n.body);
      in_flight_ = before;
      return with_body(n, std::move(body));
    }
    const bool before = std::exchange(in_flight_, true);
    stmt body = mutate(n.body);
    in_flight_ = before;
    annotations notes = n.annotations;
    notes.erase(products_note);
    std::vector<stmt> out = hold(n.body);
    out.push_back(
        make_loop(n.var, n.min, n.extent, std::move(body), n.loop, std::move(notes), n.thread_tag));
    out.push_back(does("tw_wait_products", {number(0)}));
    for (stmt& s : hold(n.body)) out.push_back(std::move(s));
    return make_seq(std::move(out));
  }

  /// `goes_on`: the next batch may begin before this one is done.
  stmt batch(const stmt& s, bool goes_on) {
    std::vector<stmt> out;
    if (!goes_on) out = hold(s);
    out.push_back(does("tw_fence_products"));
    out.push_back(named(s));
    out.push_back(does("tw_commit_products"));
    out.push_back(does("tw_wait_products", {number(goes_on ? 1 : 0)}));
    if (!goes_on)
      for (stmt& h : hold(s)) out.push_back(std::move(h));
    return make_seq(std::move(out));
  }

  /// The products with the first elements of what they multiply.
  static stmt named(const stmt& s) {
    if (const loop_node* loop = as_loop(s))
      return with_kind(*loop, loop_kind::unrolled, named(loop->body));
    if (const seq_node* seq = as_seq(s)) {
      std::vector<stmt> out;
      for (const stmt& child : seq->stmts) out.push_back(named(child));
      return make_seq(std::move(out));
    }
    const attribute_node& product = *as_attribute(s);
    std::vector<var> touched;  // row, column, step
    var_map first;
    const stmt* inside = &product.body;
    while (const loop_node* loop = as_loop(*inside)) {
      touched.push_back(loop->var);
      first[loop->var] = integer(loop->var.type(), 0);
      inside = &loop->body;
    }
    const evaluate_node* does_it = as_evaluate(*inside);
    if (!does_it || touched.size() != 3)
      throw internal_error("a product of a warp group was changed on its way");
    const std::vector<expr>& all = does_it->value->args;
    std::vector<expr> arguments{all[0]}, panels;
    for (const expr& operand : {all[all.size() - 2], all.back()}) {
      arguments.push_back(substitute(operand, first));
      const buffer& b = operand->buffer;
      const bool along = uses_var(operand->args.back(), touched[2]);
      panels.push_back(number(along ? 0 : as_int(b->shape[b->shape.size() - 2]) * panel_row_bytes));
    }
    arguments.push_back(product.value);
    arguments.insert(arguments.end(), panels.begin(), panels.end());
    return make_evaluate(call(dtype::i32, product_name, std::move(arguments)));
  }

  /// The sums of products in `s`, as the compiler has to have them in their registers.
  static std::vector<stmt> hold(const stmt& s) {
    std::vector<buffer> sums;
    for_each_expr(s, [&](const expr& e) {
      if (!is_product_call(e)) return;
      const buffer& b = e->args[0]->buffer;
      for (const buffer& x : sums)
        if (x == b) return;
      sums.push_back(b);
    });
    std::vector<stmt> out;
    for (const buffer& b : sums)
      out.push_back(does("tw_hold_sums", {load(b, std::vector<expr>(b->shape.size(), number(0))),
                                          number(constant_size(b))}));
    return out;
  }

  bool unfenced_ = false;   // memory of products was stored to since the last fence
  bool in_flight_ = false;  // a batch of the loop around may go on
};

}  // namespace tilewright::pass::detail::groups

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::function order_products(const ir::function& f) {
  ir::function out = f;
  out.body = rewrite_kernels(f.body, [](const ir::stmt& kernel) {
    if (!detail::groups::has_product(kernel)) return kernel;
    const kernel_nest nest = nest_of(kernel);
    return with_kernel_body(nest, nest.shared, detail::groups::orderer{}.mutate(nest.body));
  });
  return out;
}

}  // namespace tilewright::pass
