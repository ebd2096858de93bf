#pragma once

#include <utility>
#include <vector>

#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/hoist_invariants.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::pass::detail::invariants {

using namespace tilewright::ir;

/// The largest expressions inside a loop that are the same in all of its iterations and take long.
class finder {
 public:
  explicit finder(const loop_node& loop) : stored_(stored_buffers(loop.body)) {
    bound_.insert(loop.var);
    look(loop.body, constant_extent(loop) > 0);
  }

  std::vector<expr> found;

 private:
  struct nature {
    bool fixed = true, loads = false, slow = false;
  };

  /// `always`: every iteration comes here.
  void look(const stmt& s, bool always) {
    switch (s->kind) {
      case stmt_kind::seq:
        for (const stmt& child : as_seq(s)->stmts) look(child, always);
        return;
      case stmt_kind::loop: {
        const loop_node& loop = *as_loop(s);
        if (loop.loop == loop_kind::parallel) return;
        bound_.insert(loop.var);
        return look(loop.body, always && constant_extent(loop) > 0);
      }
      case stmt_kind::if_else:
        look(as_if(s)->condition, always);
        look(as_if(s)->then_body, false);
        if (as_if(s)->else_body) look(as_if(s)->else_body, false);
        return;
      case stmt_kind::let:
        look(as_let(s)->value, always);
        bound_.insert(as_let(s)->var);
        return look(as_let(s)->body, always);
      case stmt_kind::allocate: return look(as_allocate(s)->body, always);
      case stmt_kind::store: return look(as_store(s)->value, always);
      default: return;
    }
  }

  void look(const expr& e, bool always) { keep(e, nature_of(e, always), always); }

  void keep(const expr& e, const nature& n, bool always) {
    if (!n.fixed || !n.slow || (n.loads && !always) || !is_float(e.type())) return;
    const auto same = [&](const expr& other) { return equal(other, e); };
    if (support::none(found, same)) found.push_back(e);
  }

  /// Keeps the operands of what is not fixed itself.
  nature nature_of(const expr& e, bool always) {
    nature out;
    std::vector<nature> parts;
    for (std::size_t k = 0; k < e->args.size(); ++k) {
      const bool here = always && (e->op != op::if_then_else || k == 0);
      parts.push_back(nature_of(e->args[k], here));
      out.fixed = out.fixed && parts.back().fixed;
      out.loads = out.loads || parts.back().loads;
      out.slow = out.slow || parts.back().slow;
    }
    const bool call = e->op == op::call && is_float(e.type()) && e->name != "likely";
    if (e->op == op::var) out.fixed = bound_.count(e) == 0;
    if (e->op == op::load) {
      out.fixed = out.fixed && stored_.count(e->buffer) == 0;
      out.loads = true;
    }
    if (e->op == op::let || e->op == op::data || (e->op == op::call && !call)) out.fixed = false;
    const bool divides = is_float(e.type()) && (e->op == op::div || e->op == op::mod);
    out.slow = out.slow || call || divides;
    if (out.fixed) return out;
    if (divides) parts[1].slow = parts[1].slow || parts[1].loads;  // its reciprocal takes long
    for (std::size_t k = 0; k < parts.size(); ++k)
      keep(e->args[k], parts[k], always && (e->op != op::if_then_else || k == 0));
    return out;
  }

  buffer_set stored_;
  var_set bound_;
};

/// Puts variables in the place of equal expressions.
class replacer : public mutator {
 public:
  replacer(const std::vector<expr>& from, const std::vector<var>& to) : from_(from), to_(to) {}
  using mutator::mutate;

  expr mutate(const expr& e) override {
    for (std::size_t k = 0; k < from_.size(); ++k)
      if (e->op == from_[k]->op && equal(e, from_[k])) return to_[k];
    return mutator::mutate(e);
  }
  stmt mutate(const stmt& s) override {
    const loop_node* loop = as_loop(s);
    return loop && loop->loop == loop_kind::parallel ? s : mutator::mutate(s);
  }

 private:
  const std::vector<expr>& from_;
  const std::vector<var>& to_;
};

class hoister : public mutator {
 public:
  using mutator::mutate;

  stmt mutate(const stmt& s) override {
    const loop_node* loop = as_loop(s);
    if (!loop || loop->loop != loop_kind::serial) return mutator::mutate(s);
    const std::vector<expr> values = finder(*loop).found;
    std::vector<var> lets;
    for (const expr& e : values) lets.push_back(make_var("fixed", e.type()));
    stmt body = values.empty() ? loop->body : replacer(values, lets).mutate(loop->body);
    body = mutate(body);
    stmt out = body == loop->body ? s : with_body(*loop, std::move(body));
    for (std::size_t k = values.size(); k-- > 0;) out = make_let(lets[k], values[k], out);
    return out;
  }
};

}  // namespace tilewright::pass::detail::invariants

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::function hoist_invariants(const ir::function& f) {
  ir::function out = f;
  out.body = detail::invariants::hoister{}.mutate(f.body);
  return out;
}

}  // namespace tilewright::pass
