#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/name_bounds.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::pass::detail::bounds {

using namespace tilewright::ir;

/// A load and the variable that stands for it.
struct named_load {
  expr load;
  var name;
};

class load_replacer : public mutator {
 public:
  explicit load_replacer(const std::vector<named_load>& names) : names_(names) {}
  using mutator::mutate;
  expr mutate(const expr& e) override {
    if (e->op == op::load)
      for (const named_load& n : names_)
        if (equal(e, n.load)) return n.name;
    return mutator::mutate(e);
  }

 private:
  const std::vector<named_load>& names_;
};

class namer : public mutator {
 public:
  explicit namer(buffer_set written) : written_(std::move(written)) {}
  using mutator::mutate;

  /// The body with what is wanted here, and by no loop further out, bound around it.
  stmt bind(stmt body, const var& loop) {
    std::vector<named_load> here;
    for (expr& e : wanted_) {
      if (loop && !uses_var(e, loop)) continue;
      here.push_back({e, make_var(e->buffer->name + "_at", e.type())});
      e = expr();
    }
    std::erase_if(wanted_, [](const expr& e) { return !e; });
    if (here.empty()) return body;
    body = load_replacer(here).mutate(body);
    for (const named_load& n : here) body = make_let(n.name, n.load, std::move(body));
    return body;
  }

  stmt mutate(const stmt& s) override {
    if (const loop_node* loop = as_loop(s)) return mutate_loop(*loop);
    if (const let_node* let = as_let(s))
      return make_let(let->var, let->value, bind(mutate(let->body), let->var));
    const if_node* branch = as_if(s);
    if (!branch) return mutator::mutate(s);
    return make_if(branch->condition, closed(branch->then_body),
                   branch->else_body ? closed(branch->else_body) : stmt());
  }

 private:
  stmt mutate_loop(const loop_node& loop) {
    if (loop.loop == loop_kind::serial) {
      want(loop.min);
      want(loop.extent);
    }
    const bool runs = is_int(loop.extent) && as_int(loop.extent) > 0;
    return with_body(loop, runs ? bind(mutate(loop.body), loop.var) : closed(loop.body));
  }

  /// What may not run binds what it wants inside: a load outside of it could be out of bounds.
  stmt closed(const stmt& s) {
    std::vector<expr> outside = std::exchange(wanted_, {});
    stmt out = bind(mutate(s), {});
    wanted_ = std::move(outside);
    return out;
  }

  void want(const expr& bound) {
    if (!reads_memory(bound)) return;
    for_each_expr(bound, [&](const expr& e) {
      if (e->op != op::load || written_.count(e->buffer)) return;
      const bool simple = support::none(e->args, [](const expr& i) { return reads_memory(i); });
      const bool known = support::any(wanted_, [&](const expr& w) { return equal(w, e); });
      if (simple && !known) wanted_.push_back(e);
    });
  }

  buffer_set written_;
  std::vector<expr> wanted_;
};

}  // namespace tilewright::pass::detail::bounds

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::function name_bounds(const ir::function& f) {
  const bool none = !ir::any_stmt(f.body, [](const ir::stmt& s) {
    const ir::loop_node* loop = ir::as_loop(s);
    return loop && (ir::reads_memory(loop->min) || ir::reads_memory(loop->extent));
  });
  if (none) return f;
  ir::function out = f;
  detail::bounds::namer change(stored_buffers(f.body));
  out.body = change.bind(change.mutate(f.body), {});
  return out;
}

}  // namespace tilewright::pass
