#pragma once

#include <algorithm>

#include <tilewright/ir/analysis/joint_copy.hpp>
#include <tilewright/ir/analysis/private_buffers.hpp>

namespace tilewright::ir {

TILEWRIGHT_INLINE void private_buffers::walk() {
  if (std::exchange(walked_, true)) return;
  links_.reserve(32);
  links_.push_back({nullptr, outside, 0});
  lives_.reserve(16);
  visit(body_);
}

TILEWRIGHT_INLINE private_buffers::life& private_buffers::life_of(const buffer& b) {
  for (life& l : lives_)
    if (l.buffer == b.get()) return l;
  lives_.push_back({b.get()});
  return lives_.back();
}

TILEWRIGHT_INLINE private_buffers::life* private_buffers::own_life_of(const buffer& b) {
  walk();
  for (life& l : lives_)
    if (l.buffer == b.get()) return l.allocated ? &l : nullptr;
  return nullptr;
}

TILEWRIGHT_INLINE const std::vector<const loop_node*>& private_buffers::loops_around(
    const buffer& b) {
  static const std::vector<const loop_node*> none;
  life* own = own_life_of(b);
  if (!own) return none;
  if (own->around.empty() && own->below != outside) {
    for (std::size_t at = own->below; at != outside; at = links_[at].around)
      own->around.push_back(links_[at].loop);
    std::reverse(own->around.begin(), own->around.end());
  }
  return own->around;
}

TILEWRIGHT_INLINE bool private_buffers::within(const loop_node& loop, const buffer& b) {
  const life* own = own_life_of(b);
  for (std::size_t at = own ? own->below : outside; at != outside; at = links_[at].around)
    if (links_[at].loop == &loop) return true;
  return false;
}

TILEWRIGHT_INLINE void private_buffers::visit(const stmt& s) {
  const loop_node* loop = as_loop(s);
  if (!loop) return buffer_uses::visit(s);
  const std::size_t around = here_;
  links_.push_back({loop, around, links_[around].depth + 1});
  here_ = links_.size() - 1;
  buffer_uses::visit(s);
  here_ = around;
}

TILEWRIGHT_INLINE void private_buffers::visit(const block& b) {
  for (const buffer& x : b->alloc_buffers) life_of(x).allocated = true;
  const std::size_t below = here_;
  if (is_auto_copy(*b))  // around the outermost loop whose threads copy jointly
    for (std::size_t at = below; at != outside; at = links_[at].around)
      if (copies_jointly(*b, *links_[at].loop)) here_ = links_[at].around;
  if (const std::vector<buffer>* of_stores = buffers_of_stores(b))
    for (const buffer& x : *of_stores) use(x);
  else
    buffer_uses::visit(b);
  here_ = below;
}

TILEWRIGHT_INLINE void private_buffers::use(const buffer& b) {
  life& l = life_of(b);
  if (!std::exchange(l.touched, true)) {
    l.below = here_;
    return;
  }
  for (std::size_t other = here_; l.below != other;)
    if (links_[l.below].depth >= links_[other].depth)
      l.below = links_[l.below].around;
    else
      other = links_[other].around;
}

}  // namespace tilewright::ir
