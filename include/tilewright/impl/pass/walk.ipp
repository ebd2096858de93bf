#pragma once

#include <tilewright/arith/linear.hpp>
#include <tilewright/pass/walk.hpp>

namespace tilewright::pass {

TILEWRIGHT_INLINE bool is_unit(const ir::loop_node& loop) { return ir::is_int(loop.extent, 1); }

TILEWRIGHT_INLINE std::int64_t constant_extent(const ir::loop_node& loop) {
  return ir::is_int(loop.extent) ? ir::as_int(loop.extent) : 0;
}

TILEWRIGHT_INLINE ir::var_set shape_variables(const ir::function& f) {
  ir::var_set out;
  for (const ir::param& p : f.params)
    if (p.buffer)
      for (const ir::expr& extent : p.buffer->shape)
        if (ir::is_var(extent)) out.insert(extent);
  return out;
}

TILEWRIGHT_INLINE ir::expr whole_steps(const ir::expr& extent, const ir::expr& by,
                                       const ir::var_set& sizes) {
  const ir::expr steps = ir::floordiv(extent, by);
  return sizes.count(extent) ? steps : ir::max(steps, ir::integer(steps.type(), 0));
}

TILEWRIGHT_INLINE ir::stmt with_domain(const ir::loop_node& like, ir::expr min, ir::expr extent,
                                       ir::stmt body) {
  auto* node = new ir::loop_node(like);
  node->min = std::move(min);
  node->extent = std::move(extent);
  node->body = std::move(body);
  return ir::stmt(node);
}

TILEWRIGHT_INLINE ir::stmt with_kind(const ir::loop_node& like, ir::loop_kind kind, ir::stmt body) {
  auto* node = new ir::loop_node(like);
  node->loop = kind;
  node->body = std::move(body);
  return ir::stmt(node);
}

namespace detail::walk {

class renamer : public ir::mutator {
 public:
  using ir::mutator::mutate;
  ir::expr mutate(const ir::expr& e) override {
    if (e->op != ir::op::var) return ir::mutator::mutate(e);
    const auto found = map_.find(e);
    return found == map_.end() ? e : found->second;
  }
  ir::stmt mutate(const ir::stmt& s) override {
    if (const ir::loop_node* loop = ir::as_loop(s)) {
      auto* node = new ir::loop_node(*loop);
      ir::stmt owner(node);
      node->min = mutate(loop->min);
      node->extent = mutate(loop->extent);
      node->var = fresh(loop->var);
      node->body = mutate(loop->body);
      return owner;
    }
    if (const ir::let_node* let = ir::as_let(s)) {
      ir::expr value = mutate(let->value);
      const ir::var v = fresh(let->var);
      return ir::make_let(v, std::move(value), mutate(let->body));
    }
    if (const ir::allocate_node* n = ir::as_allocate(s)) {
      buffers_[n->buffer] = ir::buffer(new ir::buffer_node(*n->buffer));
    }
    return ir::mutator::mutate(s);
  }
  ir::buffer mutate(const ir::buffer& b) override {
    const auto found = buffers_.find(b);
    return found == buffers_.end() ? b : found->second;
  }

 private:
  ir::var fresh(const ir::var& v) { return map_[v] = ir::make_var(v->name, v.type()); }
  ir::var_map map_;
  ir::buffer_map buffers_;
};

}  // namespace detail::walk

TILEWRIGHT_INLINE ir::stmt rename_loops(const ir::stmt& s) {
  return detail::walk::renamer{}.mutate(s);
}

TILEWRIGHT_INLINE buffer_set stored_buffers(const ir::stmt& s) {
  buffer_set out;
  ir::for_each_stmt(s, [&](const ir::stmt& x) {
    if (const ir::store_node* store = ir::as_store(x)) out.insert(store->buffer);
  });
  return out;
}

TILEWRIGHT_INLINE buffer_set loaded_buffers(const ir::stmt& s) {
  buffer_set out;
  ir::for_each_expr(s, [&](const ir::expr& e) {
    if (e->op == ir::op::load) out.insert(e->buffer);
  });
  return out;
}

TILEWRIGHT_INLINE bool same_indices(const std::vector<ir::expr>& a,
                                    const std::vector<ir::expr>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t d = 0; d < a.size(); ++d)
    if (!a[d].same(b[d]) && !arith::same_value(a[d], b[d])) return false;
  return true;
}

TILEWRIGHT_INLINE bool is_nothing(const ir::stmt& s) {
  if (!s) return true;
  const ir::seq_node* seq = ir::as_seq(s);
  if (!seq) return false;
  for (const ir::stmt& child : seq->stmts)
    if (!is_nothing(child)) return false;
  return true;
}

TILEWRIGHT_INLINE std::int64_t constant_size(const ir::buffer& b) {
  std::int64_t size = 1, last = 0;
  for (std::size_t d = 0; d < b->shape.size(); ++d) {
    if (!ir::is_int(b->shape[d])) return -1;
    size *= ir::as_int(b->shape[d]);
    if (b->strides.empty()) continue;
    if (!ir::is_int(b->strides[d])) return -1;
    last += (ir::as_int(b->shape[d]) - 1) * ir::as_int(b->strides[d]);
  }
  return b->strides.empty() || size == 0 ? size : last + 1;
}

}  // namespace tilewright::pass
