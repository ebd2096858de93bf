#pragma once

#include <tilewright/ir/analysis/buffer_uses.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::ir {

namespace detail {

/// Hardly ever in what says where and how often a block runs, which is most of a program: not even visited then.
inline bool may_use_buffer(const expr& e) { return reads_memory(e) || e.type() == dtype::handle; }

struct used_buffers final : support::answer, buffer_uses {
  std::vector<buffer> found;

  explicit used_buffers(const block& b) { buffer_uses::visit(b); }
  void use(const buffer& b) override {
    if (!support::contains(found, b)) found.push_back(b);
  }
};

}  // namespace detail

TILEWRIGHT_INLINE void buffer_uses::visit(const expr& e) {
  if (!detail::may_use_buffer(e)) return;
  if (e->buffer) use(e->buffer);
  for (const expr& arg : e->args)
    if (detail::may_use_buffer(arg)) visit(arg);
}

TILEWRIGHT_INLINE void buffer_uses::visit(const stmt& s) {
  const auto look_into = [this](const expr& e) {
    if (detail::may_use_buffer(e)) visit(e);
  };
  if (const store_node* store = as_store(s)) {
    use(store->buffer);
    for (const expr& i : store->indices) look_into(i);
    look_into(store->value);
  } else if (const loop_node* loop = as_loop(s)) {
    look_into(loop->min);
    look_into(loop->extent);
    visit(loop->body);
  } else if (const block_realize_node* realize = as_realize(s)) {
    for (const expr& value : realize->values) look_into(value);
    look_into(realize->predicate);
    visit(realize->block);
  } else {
    visitor::visit(s);
  }
}

TILEWRIGHT_INLINE void buffer_uses::visit(const block& b) {
  for (const iter_var& v : b->iters)
    for (const expr* bound : {&v.dom.min, &v.dom.extent})
      if (detail::may_use_buffer(*bound)) visit(*bound);
  for (const match_buffer& m : b->match_buffers) {
    use(m.source.buffer);
    for (const range& dim : m.source.box) {
      visit(dim.min);
      visit(dim.extent);
    }
  }
  if (b->init) visit(b->init);
  visit(b->body);
}

TILEWRIGHT_INLINE const std::vector<buffer>* buffers_of_stores(const block& b) {
  if (!as_store(b->body) || (b->init && !as_store(b->init))) return nullptr;
  const support::answer* kept = b->uses.get();
  if (!kept) kept = &b->uses.keep(new detail::used_buffers(b));
  return &static_cast<const detail::used_buffers*>(kept)->found;
}

}  // namespace tilewright::ir
