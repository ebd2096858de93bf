#pragma once

#include <string>

#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/impl/schedule/rewrite/loop_rebinding.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive {
namespace detail {

class rebinder : public ir::mutator {
 public:
  rebinder(const ir::var_map& values, ir::expr guard, known_loops& known)
      : values_(values), guard_(std::move(guard)), known_(known) {
    replaced_.reserve(values.size());
    for (const auto& [v, value] : values) replaced_.push_back(v.get());
  }

  using ir::mutator::mutate;

  ir::expr mutate(const ir::expr& e) override {
    if (e->op != ir::op::var) return ir::mutator::mutate(e);
    return replaces(e) ? values_.at(e) : e;
  }

  ir::stmt mutate(const ir::stmt& s) override {
    if (const ir::block_realize_node* realize = ir::as_realize(s))
      return rebind_realize(s, *realize);
    if (const ir::loop_node* loop = ir::as_loop(s)) {
      if (ir::is_int(loop->extent)) return rebind_loop(s, *loop);
      // that its iterations are more than none is known inside of it alone
      const known_loops around = known_;
      const std::vector<const ir::loop_node*> not_yet = inside_;
      ir::stmt out = rebind_loop(s, *loop);
      known_ = around;
      inside_ = not_yet;
      return out;
    }
    const bool transparent = s->kind == ir::stmt_kind::seq || s->kind == ir::stmt_kind::allocate;
    if (transparent || !guard_) return ir::mutator::mutate(s);
    const ir::expr guard = std::exchange(guard_, {});
    ir::stmt out = ir::make_if(guard, ir::mutator::mutate(s));
    guard_ = guard;
    return out;
  }

  // A body that has iteration variables sees no loop variable outside; its domains hardly ever do.
  ir::block mutate(const ir::block& b) override {
    const auto constant = [](const ir::iter_var& i) {
      return ir::is_int(i.dom.min) && ir::is_int(i.dom.extent);
    };
    const bool closed = !b->iters.empty() && support::all(b->iters, constant);
    return closed ? b : ir::mutator::mutate(b);
  }

 private:
  bool replaces(const ir::var& v) const { return support::contains(replaced_, v.get()); }
  /// One of the variables that are replaced occurs.
  bool mentions(const ir::expr& e) const {
    if (e->op == ir::op::var) return replaces(e);
    return support::any(e->args, [&](const ir::expr& arg) { return mentions(arg); });
  }
  /// Everything around the place that the walk has reached, and what it has passed.
  const arith::analyzer& known() {
    for (const ir::loop_node* loop : inside_)
      known_.add(loop->var, mutate(loop->min), mutate(loop->extent));
    inside_.clear();
    return known_.analyzer();
  }

  /// Beyond the guard there may be nothing to load.
  ir::expr within_guard(const ir::expr& e) const {
    if (!guard_ || !ir::reads_memory(e)) return e;
    return ir::if_then_else(guard_, e,
                            is_boolean(e.type()) ? ir::boolean(false) : ir::integer(e.type(), 0));
  }

  ir::stmt rebind_loop(const ir::stmt& s, const ir::loop_node& loop) {
    inside_.push_back(&loop);
    if (mentions(loop.min) || mentions(loop.extent)) return rebind_bounds(s, loop);
    ir::stmt body = mutate(loop.body);
    return body == loop.body ? s : ir::with_body(loop, std::move(body));
  }
  ir::stmt rebind_bounds(const ir::stmt& s, const ir::loop_node& loop) {
    const ir::expr min = within_guard(mutate(loop.min)), extent = within_guard(mutate(loop.extent));
    if (min.same(loop.min) && extent.same(loop.extent)) return ir::mutator::mutate(s);
    return ir::make_loop(loop.var, min, extent, mutate(loop.body), loop.loop, loop.annotations,
                         loop.thread_tag);
  }

  ir::stmt rebind_realize(const ir::stmt& s, const ir::block_realize_node& old) {
    bool changed = static_cast<bool>(guard_);
    std::vector<ir::expr> values;
    values.reserve(old.values.size());
    for (const ir::expr& v : old.values) {
      if (!mentions(v)) {
        values.push_back(v);
        continue;
      }
      changed = true;
      // a value of the map is simple as it is
      values.push_back(ir::is_var(v) ? mutate(v) : known().simplify(mutate(v)));
    }
    ir::expr predicate = old.predicate;
    if (mentions(predicate)) predicate = known().simplify(mutate(predicate));
    if (guard_) predicate = ir::logical_and(within_guard(predicate), guard_);
    const ir::expr guard = std::exchange(guard_, {});  // a block inside is guarded by this one
    ir::block block = mutate(old.block);
    guard_ = guard;
    changed = changed || !predicate.same(old.predicate) || block != old.block;
    return changed ? ir::make_realize(std::move(values), std::move(predicate), std::move(block))
                   : s;
  }

  const ir::var_map& values_;
  std::vector<const ir::expr_node*> replaced_;  // few: looked through faster than the map
  ir::expr guard_;
  known_loops& known_;
  std::vector<const ir::loop_node*> inside_;  // not yet known
};

}  // namespace detail

TILEWRIGHT_INLINE void known_loops::add(const ir::var& v, const ir::expr& min,
                                        const ir::expr& extent) {
  if (pending_.empty()) pending_.reserve(16);
  pending_.emplace_back(v, ir::range{min, extent});
}

TILEWRIGHT_INLINE const arith::analyzer& known_loops::analyzer() {
  if (above_)
    for (const ir::loop_node* l : std::exchange(above_, nullptr)->all_loops())
      bind(l->var, {l->min, l->extent});
  for (const auto& [v, r] : pending_) bind(v, r);
  pending_.clear();
  return bound_;
}

TILEWRIGHT_INLINE void known_loops::bind(const ir::var& v, const ir::range& r) {
  if (relax_unit_loops_ && ir::is_int(r.min) && ir::is_int(r.extent, 1))
    bound_.bind(v, r.min->integer, r.min->integer + 1);
  else
    bound_.bind(v, r);
}

TILEWRIGHT_INLINE void check_plain_loop(const ir::loop_node& loop, const char* primitive, int plain,
                                        int from_zero) {
  const refusal refuse(primitive);
  if (!loop.annotations.empty())
    refuse(plain, {quoted(loop), " has annotation \"", loop.annotations.begin()->first,
                   "\"; unannotate it, or ", primitive, " first and annotate the result"});
  if (loop.loop == ir::loop_kind::thread_binding)
    refuse(plain,
           {quoted(loop), " is bound to ", loop.thread_tag, "; ", primitive, " first, then bind"});
  if (!ir::is_int(loop.min, 0)) refuse(from_zero, {quoted(loop), " does not start at 0"});
}

TILEWRIGHT_INLINE ir::stmt rebind(const ir::stmt& body, const ir::var_map& values,
                                  const ir::expr& guard, known_loops& known) {
  return detail::rebinder(values, guard, known).mutate(body);
}

}  // namespace tilewright::primitive
