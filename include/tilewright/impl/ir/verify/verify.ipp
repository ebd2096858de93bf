#pragma once

#include <utility>

#include <tilewright/impl/ir/verify/verifier.hpp>
#include <tilewright/ir/analysis/atomic_update.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/verify/verify.hpp>

namespace tilewright::ir {
namespace detail {

TILEWRIGHT_INLINE void verifier::bind(const expr& v, binder by, const char* what) {
  if (!is_var(v)) fail(std::string(what) + " is no variable");
  if (!bound_.insert(v.get(), bindings_.size()).second)
    fail("variable " + v->name + " is defined again inside its own scope");
  bindings_.push_back({v.get(), by});
}

TILEWRIGHT_INLINE void verifier::bind_layout_vars(const buffer& b) {
  const auto on_expr = [this](const expr& e) {
    if (e->op == op::var && !bound_.contains(e.get())) bind(e, binder::parameter, "an extent");
  };
  for (const expr& e : b->shape)
    if (e) for_each_expr(e, on_expr);
  for (const expr& e : b->strides)
    if (e) for_each_expr(e, on_expr);
  if (b->elem_offset) for_each_expr(b->elem_offset, on_expr);
}

TILEWRIGHT_INLINE void verifier::own(const buffer& b) {
  if (!b) fail("an allocation or match has no buffer");
  check_layout(b);
  if (!buffers_.insert(b.get(), true).second) fail("buffer " + b->name + " is defined twice");
  buffer_scope_.push_back(b.get());
  frame_.readable.push_back(b.get());
  frame_.writable.push_back(b.get());
}

TILEWRIGHT_INLINE void verifier::leave(std::size_t variables, std::size_t buffers) {
  for (; bindings_.size() > variables; bindings_.pop_back())
    bound_.erase(bindings_.back().variable);
  for (; buffer_scope_.size() > buffers; buffer_scope_.pop_back())
    buffers_.erase(buffer_scope_.back());
}

TILEWRIGHT_INLINE void verifier::check(const function& f) {
  function_ = &f;
  check_params(f);
  if (!f.body) fail("the body is missing");
  check(f.body);
  if (shared_loop_ && !block_ids_.empty())
    fail("two loops share the variable " + shared_loop_->name);
}

TILEWRIGHT_INLINE void verifier::check_params(const function& f) {
  for (const param& p : f.params)
    if (!p.buffer) bind(p.scalar, binder::parameter, "a parameter");
  for (const param& p : f.params) {
    if (!p.buffer) continue;
    bind_layout_vars(p.buffer);
    own(p.buffer);
  }
}

TILEWRIGHT_INLINE void verifier::check(const stmt& s) {
  if (!s) fail("a statement is missing");
  const bool top = std::exchange(at_top_, at_top_ && s->kind == stmt_kind::block_realize);
  const std::size_t variables = bindings_.size(), buffers = buffer_scope_.size();
  switch (s->kind) {
    case stmt_kind::loop: check(*as_loop(s)); break;
    case stmt_kind::block_realize: check(*as_realize(s)); break;
    case stmt_kind::seq:
      for (const stmt& child : as_seq(s)->stmts) check(child);
      break;
    case stmt_kind::store: check(*as_store(s)); break;
    case stmt_kind::if_else: {
      const if_node& n = *as_if(s);
      check_boolean(n.condition, "the condition");
      check(n.then_body);
      if (n.else_body) check(n.else_body);
      break;
    }
    case stmt_kind::let: check(*as_let(s)); break;
    case stmt_kind::evaluate: check(as_evaluate(s)->value, "an evaluated expression"); break;
    case stmt_kind::allocate:
      own(as_allocate(s)->buffer);
      check(as_allocate(s)->body);
      break;
    case stmt_kind::while_loop:
      check_boolean(as_while(s)->condition, "the condition");
      check(as_while(s)->body);
      break;
    case stmt_kind::attribute:
      check(as_attribute(s)->node, "what an attribute is about");
      check(as_attribute(s)->value, "the value of an attribute");
      check(as_attribute(s)->body);
      if (as_attribute(s)->key == atomic_note && !only_addition(as_attribute(s)->body))
        fail("a statement says that it adds atomically, and is no single addition");
      break;
  }
  leave(variables, buffers);
  at_top_ = top;
}

TILEWRIGHT_INLINE void verifier::check(const loop_node& n) {
  check_range({n.min, n.extent}, "a loop");
  bind(n.var, binder::loop, "the variable of a loop");
  if (n.var.type() != n.extent.type())
    fail("loop " + n.var->name + " of " + std::string(name(n.var.type())) +
         " runs over an extent of " + std::string(name(n.extent.type())));
  if (!loop_vars_.insert(n.var.get(), true).second) shared_loop_ = n.var.get();
  if (n.loop == loop_kind::thread_binding && n.thread_tag.empty())
    fail("loop " + n.var->name + " is bound to no thread axis");
  check(n.body);
}

TILEWRIGHT_INLINE void verifier::check(const store_node& n) {
  if (!n.buffer) fail("a store has no buffer");
  need_visible(n.buffer);
  need_writable(n.buffer);
  if (n.indices.size() != n.buffer->shape.size())
    fail("a store to " + n.buffer->name + " has " + std::to_string(n.indices.size()) +
         " indices for " + std::to_string(n.buffer->shape.size()) + " dimensions");
  for (const expr& index : n.indices) {
    check(index, "an index");
    if (!is_integer(index.type())) fail("index " + print(index) + " is no integer");
  }
  check(n.value, "a stored value");
  if (n.value.type() != access_type(n.buffer, n.indices))
    fail("a store of " + std::string(name(n.value.type())) + " to " + n.buffer->name + " of " +
         std::string(name(n.buffer->type)));
}

TILEWRIGHT_INLINE void verifier::check(const let_node& n) {
  check(n.value, "the value of a let");
  bind(n.var, binder::let, "what a let defines");
  if (n.var.type() != n.value.type())
    fail("let " + n.var->name + " of " + std::string(name(n.var.type())) + " is given a value of " +
         std::string(name(n.value.type())));
  check(n.body);
}

TILEWRIGHT_INLINE void verifier::check(const block_realize_node& n) {
  if (!n.block) fail("a realize has no block");
  const block_node& b = *n.block;
  // Values and predicate are evaluated outside; the buffers that they load belong to the outer
  // block.
  for (const expr& value : n.values) check_integer(value, "a value bound to an iteration variable");
  check_boolean(n.predicate, "the predicate");
  const bool root = at_top_ && b.iters.empty();
  at_top_ = false;
  if (!root)
    for (const buffer_region& r : b.reads)
      if (r.buffer && buffers_.contains(r.buffer.get())) need_readable(r.buffer);
  if (!root)
    for (const buffer_region& r : b.writes)
      if (r.buffer && buffers_.contains(r.buffer.get())) need_writable(r.buffer);

  const block_node* const outer = std::exchange(block_, &b);
  if (!block_names_.insert(b.name).second) fail("another block has this name");
  if (!block_ids_.insert(b.id).second) fail("another block has this id");
  check_iterations(n);
  check_body(b, root);
  block_ = outer;
}

TILEWRIGHT_INLINE void verifier::check_iterations(const block_realize_node& n) {
  const block_node& b = *n.block;
  if (n.values.size() != b.iters.size())
    fail(std::to_string(b.iters.size()) + " iteration variables are bound to " +
         std::to_string(n.values.size()) + " values");
  for (const iter_var& iter : b.iters) check_range(iter.dom, "the domain of an iteration variable");
  for (std::size_t i = 0; i < b.iters.size(); ++i) {
    const iter_var& iter = b.iters[i];
    bind(iter.var, binder::iteration, "an iteration variable");
    if (iter.var.type() != n.values[i].type() || iter.var.type() != iter.dom.extent.type())
      fail("iteration variable " + iter.var->name + ", its domain and its value " +
           print(n.values[i]) + " differ in type");
  }
}

TILEWRIGHT_INLINE void verifier::check_body(const block_node& b, bool root) {
  const std::size_t outer_visible = visible_from_;
  if (!b.iters.empty()) visible_from_ = bindings_.size();
  access_frame outer = std::exchange(frame_, {});
  frame_.block = nullptr;
  for (const buffer_region& r : b.reads) check_region(r);
  for (const buffer_region& r : b.writes) check_region(r);
  for (const buffer_region& r : b.reads) frame_.readable.push_back(r.buffer.get());
  for (const buffer_region& r : b.writes) {
    frame_.writable.push_back(r.buffer.get());
    if (b.init) frame_.readable.push_back(r.buffer.get());
  }
  for (const buffer& alloc : b.alloc_buffers) own(alloc);  // may be matched, too
  for (const match_buffer& m : b.match_buffers) {
    check_region(m.source);
    if (!root && !frame_.may_read(m.source.buffer) && !frame_.may_write(m.source.buffer))
      fail("buffer " + m.source.buffer->name +
           " is matched but listed neither in reads nor in writes");
    check_match(m);
    bind_layout_vars(m.buffer);
    own(m.buffer);
  }
  if (!root) frame_.block = &b;
  if (b.init && has_atomic_note(b.annotations))
    fail("the block says that it adds atomically, and has an init, which is no addition");
  if (b.init) check_init(b);
  check(b.body);
  frame_ = std::move(outer);
  visible_from_ = outer_visible;
}

TILEWRIGHT_INLINE void verifier::check_match(const match_buffer& m) {
  const buffer& of = m.source.buffer;
  if (!m.buffer) fail("an allocation or match has no buffer");
  const auto different = [&](const std::string& what) {
    fail("buffer " + m.buffer->name + " matches a region of " + of->name + " and has " + what);
  };
  if (m.buffer->type != of->type)
    different("elements of type " + std::string(name(m.buffer->type)) + " instead of " +
              std::string(name(of->type)));
  const std::vector<expr>& shape = m.buffer->shape;
  if (shape.size() > m.source.box.size()) different("more dimensions");
  const std::size_t left_out = m.source.box.size() - shape.size();
  for (std::size_t d = 0; d < m.source.box.size(); ++d) {
    const expr& extent = m.source.box[d].extent;
    if (d < left_out ? !is_int(extent, 1)
                     : is_int(extent) && is_int(shape[d - left_out]) &&
                           !is_int(shape[d - left_out], as_int(extent)))
      different("other extents");
  }
}

TILEWRIGHT_INLINE void verifier::check_init(const block_node& b) {
  check(b.init);
  for_each_expr(b.init, [&](const expr& e) {
    for (const iter_var& iter : b.iters)
      if (iter.kind == iter_kind::reduce && e.same(iter.var))
        fail("init uses the reduce iteration variable " + iter.var->name);
  });
}

}  // namespace detail

TILEWRIGHT_INLINE void verify(const function& f) { detail::verifier().check(f); }

}  // namespace tilewright::ir
