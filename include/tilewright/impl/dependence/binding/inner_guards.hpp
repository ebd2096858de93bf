// What guards of blocks inside of a block leave of what it reads.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <tilewright/impl/dependence/binding/loop_sums.hpp>
#include <tilewright/impl/dependence/cover/footprint.hpp>
#include <tilewright/ir/visit.hpp>

namespace tilewright::dependence {

/// Finds, for each variable of a block, bounds of the values at which the block loads a buffer: an
/// access inside of blocks with guards happens for those only that the guards let through.
class guards_inside : ir::visitor {
 public:
  using limits = std::vector<arith::bounds>;  // [iteration variables]

  /// `now` holds what the domain and the guard of the block itself say. Where nothing is loaded in
  /// the block, that is the answer.
  static limits of(const ir::block_node& block, const ir::buffer& x, limits now) {
    guards_inside walk(block, x, now);
    walk.enter(block);
    return walk.found_.empty() ? now : walk.found_;
  }
  /// The block, with its variables cut to these values.
  static child_block cut(child_block child, const ir::buffer& x) {
    auto iters = std::make_shared<bound_iters>(bind_iters(child));
    iters->clip = of(child.block(), x, std::move(iters->clip));
    child.bound = std::move(iters);
    return child;
  }

 private:
  guards_inside(const ir::block_node& block, const ir::buffer& x, limits now)
      : block_(block), x_(x), now_(std::move(now)) {}

  using ir::visitor::visit;

  void visit(const ir::expr& e) override {
    if (e->buffer == x_) reach();
    ir::visitor::visit(e);
  }

  void visit(const ir::stmt& s) override {
    const ir::block_realize_node* r = ir::as_realize(s);
    if (!r) return ir::visitor::visit(s);
    for (const ir::expr& value : r->values) visit(value);
    visit(r->predicate);
    const limits around = now_;
    for (const ir::expr& conjunct : ir::conjuncts(r->predicate)) cut(conjunct);
    enter(*r->block);
    now_ = around;
  }

  void enter(const ir::block_node& b) {
    for (const ir::match_buffer& m : b.match_buffers) {
      if (m.source.buffer == x_) reach();
      for (const ir::range& dim : m.source.box) {
        visit(dim.min);
        visit(dim.extent);
      }
    }
    if (b.init) visit(b.init);
    visit(b.body);
  }

  void reach() {
    if (found_.empty()) {
      found_ = now_;
      return;
    }
    for (std::size_t i = 0; i < now_.size(); ++i)
      found_[i] = {std::min(found_[i].lo, now_[i].lo), std::max(found_[i].hi, now_[i].hi)};
  }

  void cut(const ir::expr& conjunct) {
    const std::optional<arith::linear> sum = footprints::not_negative(conjunct);
    if (!sum || sum->terms.size() != 1) return;
    const auto& [term, factor] = sum->terms[0];
    const int i = iter_index(block_, term);
    if (i < 0) return;
    arith::bounds& of = now_[static_cast<std::size_t>(i)];
    if (factor > 0)
      of.lo = std::max(of.lo, -ir::floor_divide(sum->constant, factor));
    else
      of.hi = std::min(of.hi, ir::floor_divide(sum->constant, -factor));
  }

  const ir::block_node& block_;
  const ir::buffer& x_;
  limits now_, found_;
};

}  // namespace tilewright::dependence
