#pragma once

#include <utility>

#include <tilewright/pass/guards.hpp>
#include <tilewright/pass/skip_identities.hpp>
#include <tilewright/pass/walk.hpp>

namespace tilewright::pass::detail::identities {

using namespace tilewright::ir;

inline bool is_identity(op o, const expr& e) {
  if (e->op != op::integer && e->op != op::real) return false;
  const double value = e->op == op::real ? e->real : static_cast<double>(e->integer);
  if (o == op::add) return value == 0;
  if (o == op::mul) return value == 1;
  const expr bound = o == op::max ? lowest_value(e.type()) : highest_value(e.type());
  return bound->op == op::real ? value == bound->real : e->integer == bound->integer;
}

class skipper : public mutator {
 public:
  using mutator::mutate;

  stmt mutate(const stmt& s) override {
    if (const loop_node* loop = as_loop(s)) {
      const bool outside = std::exchange(in_reduction_, in_reduction_ || is_reduction(*loop));
      if (loop->loop == loop_kind::vectorized) lanes_.insert(loop->var);
      stmt out = mutator::mutate(s);
      in_reduction_ = outside;
      return out;
    }
    const store_node* store = as_store(s);
    return store && in_reduction_ ? skip(*store, s) : mutator::mutate(s);
  }

 private:
  stmt skip(const store_node& store, const stmt& unchanged) const {
    const expr& v = store.value;
    if (v->op != op::add && v->op != op::mul && v->op != op::max && v->op != op::min)
      return unchanged;
    const expr &old = v->args[0], &choice = v->args[1];
    if (old->op != op::load || old->buffer != store.buffer ||
        !same_indices(old->args, store.indices))
      return unchanged;
    if (choice->op != op::select && choice->op != op::if_then_else) return unchanged;
    const expr& condition = choice->args[0];
    if (!is_identity(v->op, choice->args[2]) || reads_memory(condition) ||
        uses_any(condition, lanes_))
      return unchanged;
    return make_if(condition,
                   make_store(store.buffer, store.indices, with_args(v, {old, choice->args[1]})));
  }

  bool in_reduction_ = false;
  var_set lanes_;
};

}  // namespace tilewright::pass::detail::identities

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::function skip_identities(const ir::function& f) {
  ir::function out = f;
  out.body = detail::identities::skipper{}.mutate(f.body);
  return out;
}

}  // namespace tilewright::pass
