#pragma once

#include <algorithm>

#include <tilewright/ir/analysis/joint_copy.hpp>
#include <tilewright/ir/analysis/private_buffers.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/find.hpp>

namespace tilewright::ir {

TILEWRIGHT_INLINE const std::vector<const loop_node*>& private_buffers::loops_around(
    const buffer& b) {
  if (!std::exchange(walked_, true)) visit(body_);
  static const std::vector<const loop_node*> none;
  const auto at = support::find(lives_, [&](const life& l) { return l.buffer == b.get(); });
  return at != lives_.end() && at->allocated ? at->around : none;
}

TILEWRIGHT_INLINE private_buffers::life& private_buffers::life_of(const buffer& b) {
  for (life& l : lives_)
    if (l.buffer == b.get()) return l;
  if (lives_.empty()) lives_.reserve(8);
  lives_.push_back({b.get(), false, false, {}});
  return lives_.back();
}

TILEWRIGHT_INLINE bool private_buffers::within(const loop_node& loop, const buffer& b) {
  const std::vector<const loop_node*>& around = loops_around(b);
  return support::contains(around, &loop);
}

TILEWRIGHT_INLINE void private_buffers::visit(const stmt& s) {
  const loop_node* loop = as_loop(s);
  if (loop) loops_.push_back(loop);
  buffer_uses::visit(s);
  if (loop) loops_.pop_back();
}

TILEWRIGHT_INLINE void private_buffers::visit(const block& b) {
  for (const buffer& x : b->alloc_buffers) life_of(x).allocated = true;
  if (!is_auto_copy(*b)) return buffer_uses::visit(b);
  const auto jointly =
      support::find(loops_, [&](const loop_node* loop) { return copies_jointly(*b, *loop); });
  if (jointly == loops_.end()) return buffer_uses::visit(b);
  const std::vector<const loop_node*> below(jointly, loops_.end());
  loops_.erase(jointly, loops_.end());
  buffer_uses::visit(b);
  loops_.insert(loops_.end(), below.begin(), below.end());
}

TILEWRIGHT_INLINE void private_buffers::use(const buffer& b) {
  life& l = life_of(b);
  if (!std::exchange(l.touched, true)) {
    l.around = loops_;
    return;
  }
  const auto end = std::mismatch(l.around.begin(), l.around.end(), loops_.begin(), loops_.end());
  l.around.erase(end.first, l.around.end());
}

}  // namespace tilewright::ir
