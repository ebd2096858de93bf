// Which iterations have a buffer of their own, when it is lowered.
#pragma once

#include <algorithm>
#include <unordered_map>
#include <vector>

#include <tilewright/ir/visit.hpp>

namespace tilewright::ir::detail::interp {

/// The loops whose iterations run side by side around every access to a buffer. Lowering allocates
/// what blocks declare around the smallest statement that holds all accesses, so that each of these
/// iterations has its own.
class private_loops : visitor {
 public:
  explicit private_loops(const stmt& body) { visitor::visit(body); }

  const std::vector<const loop_node*>& of(const buffer& b) { return found_[b.get()]; }

 private:
  void visit(const expr& e) override {
    if (e->buffer) note(e->buffer);
    visitor::visit(e);
  }
  void visit(const stmt& s) override {
    if (const store_node* store = as_store(s)) note(store->buffer);
    const loop_node* l = as_loop(s);
    const bool concurrent =
        l && (l->loop == loop_kind::parallel || l->loop == loop_kind::vectorized);
    if (concurrent) around_.push_back(l);
    visitor::visit(s);
    if (concurrent) around_.pop_back();
  }
  void visit(const block& b) override {
    for (const match_buffer& m : b->match_buffers) note(m.source.buffer);
    visitor::visit(b);
  }

  void note(const buffer& b) {
    const auto [at, first] = found_.try_emplace(b.get(), around_);
    if (first) return;
    std::vector<const loop_node*>& common = at->second;
    const auto end = std::mismatch(common.begin(), common.end(), around_.begin(), around_.end());
    common.erase(end.first, common.end());
  }

  std::vector<const loop_node*> around_;
  std::unordered_map<const buffer_node*, std::vector<const loop_node*>> found_;
};

}  // namespace tilewright::ir::detail::interp
