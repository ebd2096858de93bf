#pragma once

#include <utility>
#include <vector>

#include <tilewright/impl/pass/invariants/tables.hpp>
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
  /// Inside a statement that stands by itself: smaller ones, too, each before what it is a part of.
  explicit finder(const stmt& s) : stored_(stored_buffers(s)), parts_too_(true) { look(s, true); }

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
    if (out.fixed && !parts_too_) return out;
    if (divides) parts[1].slow = parts[1].slow || parts[1].loads;  // its reciprocal takes long
    for (std::size_t k = 0; k < parts.size(); ++k)
      keep(e->args[k], parts[k], always && (e->op != op::if_then_else || k == 0));
    return out;
  }

  buffer_set stored_;
  var_set bound_;
  bool parts_too_ = false;
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

/// Whether there is anything in it that takes long.
inline bool has_slow_floats(const stmt& s) {
  bool out = false;
  for_each_expr(s, [&](const expr& e) {
    out =
        out || (is_float(e.type()) && (e->op == op::div || e->op == op::mod || e->op == op::call));
  });
  return out;
}

/// Whether the statements store to what the expression loads from.
inline bool changes(const stmt& s, const expr& e) {
  const buffer_set stored = stored_buffers(s);
  bool out = false;
  for_each_expr(
      e, [&](const expr& x) { out = out || (x->op == op::load && stored.count(x->buffer) > 0); });
  return out;
}

class hoister : public mutator {
 public:
  using mutator::mutate;

  stmt mutate(const stmt& s) override {
    if (const seq_node* all = as_seq(s))
      if (const stmt shared = share(all->stmts)) return mutate(shared);
    const loop_node* loop = as_loop(s);
    if (!loop || loop->loop != loop_kind::serial) return mutator::mutate(s);
    const std::vector<expr> values = finder(*loop).found;
    std::vector<var> lets;
    for (const expr& e : values) lets.push_back(make_var("fixed", e.type()));
    stmt body = values.empty() ? loop->body : replacer(values, lets).mutate(loop->body);
    const stmt rest = with_body(*loop, body);
    const loop_tables tables(*as_loop(rest));
    body = mutate(tables.read_in(body));
    stmt out = tables.around(body == loop->body ? s : with_body(*loop, std::move(body)));
    for (std::size_t k = values.size(); k-- > 0;) out = make_let(lets[k], values[k], out);
    return out;
  }

 private:
  /// The first value that takes long and that two of the statements compute, as the last vectors of a
  /// row do again what its loop has done, computed before the first of them; null where there is none.
  static stmt share(const std::vector<stmt>& all) {
    constexpr std::size_t most = 32;  // statements beside each other that are looked through
    if (all.size() < 2 || all.size() > most) return {};
    std::vector<std::vector<expr>> found;
    for (const stmt& s : all)
      found.push_back(has_slow_floats(s) ? finder(s).found : std::vector<expr>{});
    for (std::size_t first = 0; first + 1 < all.size(); ++first)
      for (auto e = found[first].rbegin(); e != found[first].rend(); ++e)
        if (const std::size_t last = last_alike(all, found, first, *e); last > first)
          return shared(all, first, last, *e);
    return {};
  }

  /// The last statement that computes `e` again, with nothing stored in between to what it loads.
  static std::size_t last_alike(const std::vector<stmt>& all,
                                const std::vector<std::vector<expr>>& found, std::size_t first,
                                const expr& e) {
    std::size_t last = first;
    for (std::size_t k = first + 1; k < all.size() && !changes(all[k - 1], e); ++k)
      if (support::any(found[k], [&](const expr& other) { return equal(other, e); })) last = k;
    return last;
  }

  static stmt shared(const std::vector<stmt>& all, std::size_t first, std::size_t last,
                     const expr& e) {
    const std::vector<expr> from{e};
    const std::vector<var> to{make_var("fixed", e.type())};
    replacer use(from, to);
    std::vector<stmt> inside, out(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(first));
    for (std::size_t k = first; k <= last; ++k) inside.push_back(use.mutate(all[k]));
    out.push_back(make_let(to[0], e, make_seq(std::move(inside))));
    out.insert(out.end(), all.begin() + static_cast<std::ptrdiff_t>(last) + 1, all.end());
    return make_seq(std::move(out));
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
