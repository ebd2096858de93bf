// Copies of statements that may stand beside them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <tilewright/ir/visit.hpp>

namespace tilewright::primitive::detail {

/// The variables in the layout of a buffer.
inline void add_layout(const ir::buffer& b, ir::var_set& out) {
  std::vector<ir::expr> list = b->shape;
  list.insert(list.end(), b->strides.begin(), b->strides.end());
  if (b->elem_offset) list.push_back(b->elem_offset);
  for (const ir::expr& e : list)
    for (const ir::var& v : ir::free_vars(e)) out.insert(v);
}

/// A copy that shares no variable, buffer or block with what it is a copy of. A view defines what of
/// its layout nothing else does: the copy gets variables of its own for it, those `outside` aside.
class fresh_copy : public ir::mutator {
 public:
  using ir::mutator::mutate;

  ir::expr mutate(const ir::expr& e) override {
    if (!ir::is_var(e)) return ir::mutator::mutate(e);
    const auto found = vars_.find(e);
    return found == vars_.end() ? e : found->second;
  }
  ir::buffer mutate(const ir::buffer& b) override {
    const auto found = buffers_.find(b);
    return found == buffers_.end() ? b : found->second;
  }
  ir::stmt mutate(const ir::stmt& s) override {
    if (const ir::loop_node* loop = ir::as_loop(s)) {
      const ir::expr min = bound(loop->min), extent = bound(loop->extent);
      const ir::var v = renew(loop->var, min.type());
      return ir::make_loop(v, min, extent, mutate(loop->body), loop->loop, loop->annotations,
                           loop->thread_tag);
    }
    if (const ir::let_node* let = ir::as_let(s)) {
      const ir::expr value = mutate(let->value);
      const ir::var v = renew(let->var, let->var.type());
      return ir::make_let(v, value, mutate(let->body));
    }
    return ir::mutator::mutate(s);
  }
  ir::block mutate(const ir::block& b) override {
    ir::block_node out = *b;
    out.id = 0;
    out.name = name_of(b);
    for (ir::iter_var& i : out.iters) {
      i.dom = {bound(i.dom.min), bound(i.dom.extent)};
      i.var = renew(i.var, i.dom.extent.type());
    }
    for (const ir::buffer& a : b->alloc_buffers) renew(a);
    for (const ir::match_buffer& m : b->match_buffers) renew(m.buffer);
    out = *ir::mutator::mutate(ir::make_block(std::move(out)));
    for (auto* list : {&out.reads, &out.writes})
      for (ir::buffer_region& r : *list)
        for (ir::range& d : r.box) d = {bound(d.min), bound(d.extent)};
    return ir::make_block(std::move(out));
  }

  /// A new buffer in place of `b`.
  ir::buffer renew(const ir::buffer& b) {
    ir::var_set layout;
    add_layout(b, layout);
    for (const ir::var& v : layout)
      if (!outside_.count(v) && !vars_.count(v)) renew(v, bound(v).type());
    auto* made = new ir::buffer_node(*b);
    const ir::buffer out(made);
    for (ir::expr& e : made->shape) e = bound(e);
    for (ir::expr& e : made->strides) e = bound(e);
    if (made->elem_offset) made->elem_offset = bound(made->elem_offset);
    return buffers_[b] = out;
  }

 protected:
  explicit fresh_copy(ir::var_set outside = {}) : outside_(std::move(outside)) {}

  /// What the copy of a block is called.
  virtual std::string name_of(const ir::block& b) = 0;
  /// The copy of a bound of a loop, a domain, a region or a layout.
  virtual ir::expr bound(const ir::expr& e) { return mutate(e); }

  ir::var renew(const ir::var& v, dtype type) { return put(v, ir::make_var(v->name, type)); }
  /// The copy has `made` where `v` was.
  ir::var put(const ir::var& v, ir::var made) {
    return vars_.insert_or_assign(v, std::move(made)).first->second;
  }

 private:
  ir::var_set outside_;
  ir::var_map vars_;
  ir::buffer_map buffers_;
};

}  // namespace tilewright::primitive::detail
