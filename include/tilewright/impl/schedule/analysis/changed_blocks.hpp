// What a primitive has changed of a program.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/ir/analysis/buffer_uses.hpp>
#include <tilewright/ir/analysis/joint_copy.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/short_vector.hpp>

namespace tilewright::primitive::detail {

/// The blocks that a primitive has made anew, that write something else, or that stand below other
/// loops. Kinds of loops make no difference, and annotations only where they say who runs a block. What the primitive has not come near is
/// the same node, so that only the way down to its changes is walked.
class changed_blocks : ir::buffer_uses {
 public:
  changed_blocks(const ir::function& before, const ir::function& after) {
    compare(before.body, after.body);
  }

  bool empty() const noexcept { return found_.empty(); }
  bool hold(const child_block& c) const noexcept { return support::contains(found_, c.realize); }
  /// Whether one of them touches the buffer, or what stands around it in its place.
  bool touch(const ir::buffer& b) const noexcept { return support::contains(touched_, b.get()); }

 private:
  void compare(const ir::stmt& a, const ir::stmt& b) {
    if (a == b) return;
    const ir::loop_node *x = ir::as_loop(a), *y = ir::as_loop(b);
    if (x && y && x->var.same(y->var) && x->min.same(y->min) && x->extent.same(y->extent))
      return compare(x->body, y->body);
    if (ir::as_seq(a) && ir::as_seq(b)) return compare(ir::as_seq(a)->stmts, ir::as_seq(b)->stmts);
    const ir::block_realize_node *p = ir::as_realize(a), *q = ir::as_realize(b);
    if (p && q && writes_the_same(*p, *q)) {
      const ir::block_realize_node* outer = std::exchange(around_, q);
      compare(p->block->body, q->block->body);
      around_ = outer;
      return;
    }
    if (around_) found_.push_back(around_);
    visit(b);
  }
  void compare(const std::vector<ir::stmt>& a, const std::vector<ir::stmt>& b) {
    const std::size_t shorter = std::min(a.size(), b.size());
    std::size_t first = 0, behind = 0;  // how many are the same at both ends
    while (first < shorter && a[first] == b[first]) ++first;
    while (behind < shorter - first && a[a.size() - 1 - behind] == b[b.size() - 1 - behind])
      ++behind;
    for (std::size_t i = first; i < b.size() - behind; ++i)
      if (a.size() == b.size())
        compare(a[i], b[i]);
      else
        visit(b[i]);
  }
  using ir::buffer_uses::visit;
  void visit(const ir::stmt& s) override {
    if (const ir::block_realize_node* r = ir::as_realize(s)) found_.push_back(r);
    ir::buffer_uses::visit(s);
  }
  void visit(const ir::block& b) override {
    const std::vector<ir::buffer>* of_stores = ir::buffers_of_stores(b);
    if (!of_stores) return ir::buffer_uses::visit(b);
    for (const ir::buffer& x : *of_stores) use(x);
  }
  void use(const ir::buffer& b) override {
    if (!support::contains(touched_, b.get())) touched_.push_back(b.get());
  }

  static bool writes_the_same(const ir::block_realize_node& a, const ir::block_realize_node& b) {
    const auto same = [](const ir::expr& x, const ir::expr& y) { return x.same(y); };
    const auto same_range = [](const ir::range& x, const ir::range& y) {
      return x.min.same(y.min) && x.extent.same(y.extent);
    };
    const auto same_iter = [&](const ir::iter_var& x, const ir::iter_var& y) {
      return x.var.same(y.var) && x.kind == y.kind && same_range(x.dom, y.dom);
    };
    const auto same_region = [&](const ir::buffer_region& x, const ir::buffer_region& y) {
      return x.buffer == y.buffer &&
             std::equal(x.box.begin(), x.box.end(), y.box.begin(), y.box.end(), same_range);
    };
    const auto all_same = [](const auto& x, const auto& y, const auto& is_same) {
      return std::equal(x.begin(), x.end(), y.begin(), y.end(), is_same);
    };
    const ir::block_node &p = *a.block, &q = *b.block;
    return a.predicate.same(b.predicate) && all_same(a.values, b.values, same) &&
           all_same(p.iters, q.iters, same_iter) && all_same(p.writes, q.writes, same_region) &&
           p.init == q.init && p.match_buffers.empty() && q.match_buffers.empty() &&
           ir::is_auto_copy(p) == ir::is_auto_copy(q);
  }

  const ir::block_realize_node* around_ = nullptr;
  support::short_vector<const ir::block_realize_node*, 12> found_;
  support::short_vector<const ir::buffer_node*, 12> touched_;
};

}  // namespace tilewright::primitive::detail
