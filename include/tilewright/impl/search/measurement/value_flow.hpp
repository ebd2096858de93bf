// Which parameters only hold data, and which steer: their elements reach an index, the extent of a
// loop, a divisor or the count of a shift, where not every value has a meaning or ends in time.
#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include <tilewright/ir/visit.hpp>

namespace tilewright::search::detail {

/// Follows elements from loads through lets and stores. A variable or a buffer is named by its node.
class value_flow : public ir::visitor {
 public:
  using ir::visitor::visit;

  /// @param wide_to_float an integer of more than 8 bits that becomes a float steers, too
  value_flow(const ir::function& f, bool wide_to_float) : wide_to_float_(wide_to_float) {
    visit(f.body);
    for (std::vector<const void*> next(steering_.begin(), steering_.end()); !next.empty();) {
      const void* now = next.back();
      next.pop_back();
      for (const void* from : sources_[now])
        if (steering_.insert(from).second) next.push_back(from);
    }
  }

  bool steers(const ir::param& p) const {
    return steering_.count(p.buffer ? static_cast<const void*>(p.buffer.get())
                                    : static_cast<const void*>(p.scalar.get())) > 0;
  }

  void visit(const ir::stmt& s) override {
    if (!s) return;
    if (const ir::store_node* store = ir::as_store(s)) {
      for (const ir::expr& i : store->indices) steer(i);
      flow(store->buffer.get(), store->value);
    } else if (const ir::loop_node* l = ir::as_loop(s)) {
      steer(l->min);
      steer(l->extent);
    } else if (const ir::while_node* w = ir::as_while(s)) {
      steer(w->condition);
    } else if (const ir::let_node* let = ir::as_let(s)) {
      flow(let->var.get(), let->value);
    } else if (const ir::block_realize_node* r = ir::as_realize(s)) {
      for (std::size_t i = 0; i < r->values.size(); ++i) {
        steer(r->values[i]);
        flow(r->block->iters[i].var.get(), r->values[i]);
      }
      for (const ir::match_buffer& m : r->block->match_buffers) {  // two names of one memory
        sources_[m.buffer.get()].insert(m.source.buffer.get());
        sources_[m.source.buffer.get()].insert(m.buffer.get());
      }
    }
    ir::visitor::visit(s);
  }

  void visit(const ir::expr& e) override {
    if (!e) return;
    const bool divides = e->op == ir::op::div || e->op == ir::op::mod ||
                         e->op == ir::op::floordiv || e->op == ir::op::floormod;
    const bool shifts =
        e->op == ir::op::call && (e->name == "shift_left" || e->name == "shift_right");
    if (e->op == ir::op::load)
      for (const ir::expr& i : e->args) steer(i);
    else if ((divides && !is_float(e.type())) || shifts)
      steer(e->args[1]);
    else if (e->op == ir::op::cast && wide_to_float_ && is_float(e.type()) &&
             !is_float(e->args[0].type()) && bits(e->args[0].type()) > 8)
      steer(e->args[0]);
    else if (e->op == ir::op::let)
      flow(e->args[0].get(), e->args[1]);
    ir::visitor::visit(e);
  }

 private:
  template <class F>
  static void each_source(const ir::expr& e, const F& f) {
    if (!e) return;
    ir::for_each_expr(e, [&](const ir::expr& part) {
      if (part->op == ir::op::load) f(static_cast<const void*>(part->buffer.get()));
      if (part->op == ir::op::var) f(static_cast<const void*>(part.get()));
    });
  }
  void steer(const ir::expr& e) {
    each_source(e, [&](const void* from) { steering_.insert(from); });
  }
  void flow(const void* to, const ir::expr& e) {
    each_source(e, [&](const void* from) { sources_[to].insert(from); });
  }

  bool wide_to_float_;
  std::set<const void*> steering_;
  std::map<const void*, std::set<const void*>> sources_;
};

}  // namespace tilewright::search::detail
