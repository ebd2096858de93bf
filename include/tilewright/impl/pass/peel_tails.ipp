#pragma once

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <tilewright/arith/scoped_mutator.hpp>
#include <tilewright/impl/pass/vector/clamped_lanes.hpp>
#include <tilewright/pass/guards.hpp>
#include <tilewright/pass/peel_tails.hpp>
#include <tilewright/pass/simplify_loops.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::pass::detail::peel {

using namespace tilewright::ir;

/// Function around conditions that have been asked about already; removed at the end.
inline constexpr const char* kept = "tilewright.kept";

/// A condition outer + inner + constant <= 0: `inner` runs over [lo, hi] within one tile.
struct guard {
  expr condition;       // the conjunct, by identity
  arith::linear outer;  // without constant
  arith::linear inner;  // without constant
  std::int64_t constant = 0, lo = 0, hi = 0;
  const loop_node* decides = nullptr;                    // innermost loop with a say in `outer`
  std::int64_t whole() const { return -constant - hi; }  // the tile is whole while outer <= whole
  std::int64_t possible() const {
    return -constant - lo;
  }  // something is left while outer <= possible
};

/// Condition of an if_then_else whose every conjunct is a guard.
struct value_guard {
  expr condition;
  std::vector<guard> parts;
};

inline bool same_terms(const arith::linear& a, const arith::linear& b) {
  if (a.terms.size() != b.terms.size()) return false;
  return support::all(a.terms, [&](const auto& t) { return b.coefficient(t.first) == t.second; });
}

/// Finds the guards inside the body of a loop; conditions of statements and of values apart.
class guard_finder : public visitor {
 public:
  explicit guard_finder(std::vector<const loop_node*> path)
      : path_(std::move(path)), own_(path_.size()) {}
  using visitor::visit;
  std::vector<guard> statements;
  std::vector<value_guard> values;

  void visit(const stmt& s) override {
    const loop_node* loop = as_loop(s);
    if (loop) path_.push_back(loop);
    if (const let_node* let = as_let(s)) lets_.insert(let->var);
    if (const if_node* n = as_if(s))
      for (const expr& term : conjuncts(n->condition))
        if (auto g = analyze(term, false)) statements.push_back(std::move(*g));
    visitor::visit(s);
    if (loop) path_.pop_back();
  }

  void visit(const expr& e) override {
    if (e->op == op::if_then_else && !is_shared_scalar(e)) add_value(e->args[0]);
    visitor::visit(e);
  }

 private:
  /// Whether the value is one scalar for all lanes of a vector that a sum takes in, and nothing else stands in between: two
  /// stores instead of one would keep the sum out of its registers, and a choice costs the scalar alone.
  bool is_shared_scalar(const expr& e) const {
    if (path_.size() != own_ + 1 || path_.back()->loop != loop_kind::vectorized ||
        uses_var(e, path_.back()->var))
      return false;
    return std::any_of(path_.begin(), path_.end(),
                       [](const loop_node* l) { return is_reduction(*l); });
  }

  void add_value(const expr& condition) {
    if (path_.size() == own_) return;  // no loop in between: a version would gain nothing
    std::vector<guard> parts;
    for (const expr& term : conjuncts(condition)) {
      auto g = analyze(term, true);
      if (!g) return;
      parts.push_back(std::move(*g));
    }
    if (!parts.empty()) values.push_back({condition, std::move(parts)});
  }

  bool is_inner(const loop_node& loop, bool value) const {
    bool inside_reduction = false;
    for (const loop_node* l : path_) {
      if (l == &loop) break;
      inside_reduction = inside_reduction || is_reduction(*l);
    }
    if (is_tile_loop(loop, inside_reduction)) return true;
    return value && is_reduction(loop) && loop.loop == loop_kind::serial &&
           constant_extent(loop) > 0 && is_int(loop.min);
  }

  std::optional<guard> analyze(const expr& condition, bool value) const {
    const std::optional<arith::linear> sum = as_nonpositive(condition);
    if (!sum || reads_memory(condition) || uses_any(condition, lets_)) return std::nullopt;
    guard g;
    g.condition = condition;
    g.constant = sum->constant;
    g.outer.type = g.inner.type = sum->type;
    g.outer.terms = sum->terms;
    for (std::size_t d = path_.size(); d-- > 0;) {
      const loop_node& loop = *path_[d];
      if (!uses_var(condition, loop.var)) continue;
      const std::int64_t factor = sum->coefficient(loop.var);
      if (!is_inner(loop, value) || factor == 0) {
        g.decides = &loop;
        break;
      }
      const std::int64_t first = as_int(loop.min), last = first + constant_extent(loop) - 1;
      g.lo += factor * (factor > 0 ? first : last);
      g.hi += factor * (factor > 0 ? last : first);
      g.inner.terms.emplace_back(loop.var, factor);
      erase_if(g.outer.terms, [&](const auto& t) { return t.first.same(loop.var); });
    }
    for (const auto& [var, factor] : g.inner.terms)
      for (const auto& [term, c] : g.outer.terms)
        if (uses_var(term, var)) return std::nullopt;
    if (!value && g.inner.terms.empty()) return std::nullopt;  // trim_loops does better
    return g;
  }

  std::vector<const loop_node*> path_;
  var_set lets_;  // bound inside of the loop, so that nobody can ask about them around it
  std::size_t own_;
};

/// Replaces conditions, found by identity.
class condition_replacer : public mutator {
 public:
  explicit condition_replacer(var_map map) : map_(std::move(map)) {}
  using mutator::mutate;
  expr mutate(const expr& e) override {
    const auto found = map_.find(e);
    return found == map_.end() ? mutator::mutate(e) : found->second;
  }

 private:
  var_map map_;
};

inline stmt replace_conditions(const stmt& s, const var_map& map) {
  return condition_replacer(map).mutate(s);
}

/// The part of a statement that a set of conditions is about: the smallest one around them that
/// leaves out no more than copies and initializations, so that accumulators still live across what
/// is left.
class target_finder {
 public:
  explicit target_finder(const var_map& conditions) : conditions_(conditions) {}

  stmt find(const stmt& s) const {
    if (const seq_node* seq = as_seq(s)) return find_in_seq(s, *seq);
    if (const loop_node* loop = as_loop(s)) {
      const stmt inner = find(loop->body);
      return inner == loop->body || (is_reduction(*loop) && reduces(inner)) ? s : inner;
    }
    if (const allocate_node* n = as_allocate(s)) return keep_or(s, n->body);
    if (const let_node* n = as_let(s)) return keep_or(s, n->body);
    if (const if_node* n = as_if(s); n && !n->else_body && !asks(n->condition))
      return keep_or(s, n->then_body);
    return s;
  }

 private:
  stmt keep_or(const stmt& s, const stmt& body) const {
    const stmt inner = find(body);
    return inner == body ? s : inner;
  }

  stmt find_in_seq(const stmt& s, const seq_node& seq) const {
    const stmt* only = nullptr;
    bool others_reduce = false;
    for (const stmt& child : seq.stmts) {
      if (!asks(child)) {
        others_reduce = others_reduce || reduces(child);
        continue;
      }
      if (only) return s;
      only = &child;
    }
    if (!only) return s;
    const stmt inner = find(*only);
    return inner == *only && !others_reduce ? s : inner;
  }

  template <class Tree>
  bool asks(const Tree& tree) const {
    bool found = false;
    for_each_expr(tree, [&](const expr& e) { found = found || conditions_.count(e) != 0; });
    return found;
  }

  static bool reduces(const stmt& s) {
    return any_stmt(s, [](const stmt& x) { return as_loop(x) && is_reduction(*as_loop(x)); });
  }

  const var_map& conditions_;
};

/// `s` with the statement `from`, found by identity, replaced.
inline stmt replace_statement(const stmt& s, const stmt& from, const stmt& to) {
  struct replacement : mutator {
    stmt from, to;
    using mutator::mutate;
    stmt mutate(const stmt& x) override { return x == from ? to : mutator::mutate(x); }
  };
  replacement r;
  r.from = from;
  r.to = to;
  return r.mutate(s);
}

inline int count_stores(const stmt& s) {
  int n = 0;
  for_each_stmt(s, [&](const stmt& x) { n += x->kind == stmt_kind::store; });
  return n;
}

/// The question at one loop: outer <= whole: all of `guards` hold for the whole tile.
struct question {
  std::vector<guard> guards;  // with equal outer terms
  std::int64_t step = 1;
  std::int64_t whole = 0, possible = 0;  // multiples of step
  /// `possible` is the only value of the outer part for which something but not all is left.
  bool one_value() const { return possible - whole == step; }
};

class peeler : public arith::scoped_mutator {
 public:
  explicit peeler(int allowance) : allowance_(allowance) {}
  using scoped_mutator::mutate;

  stmt mutate(const stmt& s) override {
    if (!as_loop(s)) return scoped_mutator::mutate(s);
    const loop_node& loop = *as_loop(s);
    const arith::analyzer before = known;
    known.bind(loop.var, range{loop.min, loop.extent});
    path_.push_back(&loop);
    // a reduction loop keeps its body free of branches: it is cut in two, or left
    const bool reduction = loop.loop == loop_kind::serial && is_reduction(loop);
    std::optional<question> cut = reduction ? find_question(loop.body) : std::nullopt;
    if (cut && (!can_cut(*cut, loop.var) || !spend(loop.body))) cut.reset();
    const bool bounded = cut && known.prove(at_most(*cut, cut->possible));
    stmt body = cut ? loop.body : reduction ? mutate(loop.body) : version(loop.body);
    path_.pop_back();
    known = before;
    if (cut) return cut_loop(loop, *cut, cut->one_value() && (bounded || covers(*cut, loop.body)));
    return body == loop.body ? s : with_body(loop, std::move(body));
  }

 private:
  /// The outer part grows with the variable and depends on it in one linear term.
  static bool can_cut(const question& q, const var& v) {
    for (const auto& [term, factor] : q.guards[0].outer.terms)
      if (term.same(v) ? factor <= 0 : uses_var(term, v)) return false;
    return true;
  }

  /// Takes the stores of `body` off the allowance for one more copy.
  bool spend(const stmt& body) {
    const int stores = count_stores(body);
    if (stores > allowance_) return false;
    allowance_ -= stores;
    return true;
  }

  std::optional<question> find_question(const stmt& body) const {
    guard_finder found(path_);
    found.visit(body);
    question q;
    for (guard& g : found.statements) {
      if (g.decides != path_.back() ||
          (!q.guards.empty() && !same_terms(g.outer, q.guards[0].outer)))
        continue;
      q.guards.push_back(std::move(g));
    }
    if (q.guards.empty()) return std::nullopt;
    std::int64_t step = 0;
    for (const auto& [term, factor] : q.guards[0].outer.terms) step = std::gcd(step, factor);
    q.step = step;
    q.whole = q.guards[0].whole();
    q.possible = q.guards[0].possible();
    for (const guard& g : q.guards) {
      q.whole = std::min(q.whole, g.whole());
      q.possible = std::max(q.possible, g.possible());
    }
    q.whole = floor_divide(q.whole, step) * step;
    q.possible = floor_divide(q.possible, step) * step;
    return q;
  }

  static stmt whole_tile(const stmt& body, const question& q) {
    var_map map;
    for (const guard& g : q.guards) map[g.condition] = boolean(true);
    return replace_conditions(body, map);
  }

  /// The body where the tile is not whole. A tile that is whole or empty leaves nothing there. With
  /// one possible value of the outer part the guards ask the tile loops only; else they are marked,
  /// so that nobody asks them again.
  static stmt cut_tile(const stmt& body, const question& q, bool one_value) {
    var_map map;
    for (const guard& g : q.guards) {
      arith::linear rest = g.inner;
      rest.constant = g.constant + q.possible;
      if (q.possible <= q.whole)
        map[g.condition] = boolean(false);
      else if (one_value)
        map[g.condition] = le(arith::from_linear(rest), integer(rest.type, 0));
      else
        map[g.condition] = call(dtype::boolean, kept, {g.condition});
    }
    return rename_loops(mark_edge(replace_conditions(body, map)));
  }

  static stmt mark_edge(const stmt& s) {
    const auto on_stmt = [](const stmt& x) {
      const loop_node* loop = as_loop(x);
      if (!loop || !is_reduction(*loop) || loop->annotations.count(edge_note)) return x;
      auto* marked = new loop_node(*loop);
      marked->annotations[edge_note] = 1;
      return stmt(marked);
    };
    return rewrite(
        s, [](const expr& e) { return e; }, on_stmt);
  }

  /// Nothing of `body` runs when the guards do not hold.
  static bool covers(const question& q, const stmt& body) {
    var_map map;
    for (const guard& g : q.guards) map[g.condition] = boolean(false);
    return is_nothing(simplify_loops(replace_conditions(body, map)));
  }

  static expr at_most(const question& q, std::int64_t bound) {
    return le(arith::from_linear(q.guards[0].outer), integer(q.guards[0].outer.type, bound));
  }

  /// `body` of the loop at the end of the path, with its questions asked.
  stmt version(stmt body) {
    while (std::optional<question> q = find_question(body)) {
      var_map conditions;
      for (const guard& g : q->guards) conditions[g.condition] = {};
      const stmt part = target_finder(conditions).find(body);
      if (!spend(part)) break;
      body = replace_statement(body, part, ask(part, *q));
    }
    if (std::optional<stmt> padded = version_values(body)) body = std::move(*padded);
    return mutate(body);
  }

  /// `part` with the code of the whole tile and of the edge apart.
  stmt ask(const stmt& part, const question& q) const {
    stmt main = whole_tile(part, q);
    const expr whole = at_most(q, q.whole), possible = at_most(q, q.possible);
    if (known.prove(whole)) return main;
    const bool bounded = known.prove(possible),
               one_value = q.one_value() && (bounded || covers(q, part));
    stmt edge = cut_tile(part, q, one_value);
    if (one_value && !bounded) edge = make_if(possible, std::move(edge));
    return make_if(whole, std::move(main), std::move(edge));
  }

  /// `body` with a version in which the padding conditions decided at this loop hold, all but those that
  /// some lanes of every tile fail: these stay where they are.
  std::optional<stmt> version_values(const stmt& body) {
    guard_finder found(path_);
    found.visit(body);
    std::vector<expr> terms;
    var_map holds;
    std::vector<const value_guard*> decided;
    for (const value_guard& v : found.values) {
      std::size_t depth = 0;  // of the innermost deciding loop
      for (const guard& g : v.parts) depth = std::max(depth, depth_of(g.decides));
      if (depth != path_.size()) continue;
      decided.push_back(&v);
      for (const guard& g : v.parts) {
        if (is_never_whole(g)) continue;
        holds[g.condition] = boolean(true);
        const expr whole = is_whole(g);
        if (!known.prove(whole) && !contains(terms, whole)) terms.push_back(whole);
      }
    }
    if (terms.empty()) return std::nullopt;
    const stmt part = target_finder(holds).find(body);
    if (!spend(part)) return std::nullopt;
    var_map fails;
    for (const value_guard* v : decided)
      if (fails_with_any(*v, terms)) fails[v->condition] = boolean(false);
    const stmt edge = rename_loops(mark_edge(replace_conditions(part, fails)));
    return replace_statement(body, part,
                             make_if(conjunction(terms), replace_conditions(part, holds), edge));
  }

  static expr is_whole(const guard& g) {
    return le(arith::from_linear(g.outer), integer(g.outer.type, g.whole()));
  }
  bool is_never_whole(const guard& g) const {
    return known.prove(lt(integer(g.outer.type, g.whole()), arith::from_linear(g.outer)));
  }
  static bool contains(const std::vector<expr>& all, const expr& e) {
    return support::any(all, [&](const expr& other) { return arith::same_value(other, e); });
  }

  /// The condition is false where one of `terms` is: each of them is a part of it about which the loops inside
  /// have no say.
  static bool fails_with_any(const value_guard& v, const std::vector<expr>& terms) {
    std::vector<expr> exact;
    for (const guard& g : v.parts)
      if (g.inner.terms.empty()) exact.push_back(is_whole(g));
    return support::all(terms, [&](const expr& term) { return contains(exact, term); });
  }

  /// 1 for the outermost loop of the path, more than its length for loops further inside, 0 for
  /// none.
  std::size_t depth_of(const loop_node* loop) const {
    if (!loop) return 0;
    return static_cast<std::size_t>(std::find(path_.begin(), path_.end(), loop) - path_.begin()) +
           1;
  }

  /// Reduction loop with factor * v + rest <= whole in front, the remaining iterations behind.
  stmt cut_loop(const loop_node& loop, const question& q, bool one_value) {
    const dtype type = loop.var.type();
    arith::linear rest = q.guards[0].outer;
    const std::int64_t factor = rest.coefficient(loop.var);
    erase_if(rest.terms, [&](const auto& t) { return t.first.same(loop.var); });
    const expr end = loop.min + loop.extent;
    const auto last = [&](std::int64_t bound) {  // end of the iterations with outer <= bound
      const expr room =
          floordiv(integer(type, bound) - arith::from_linear(rest), integer(type, factor));
      return known.simplify(max(loop.min, min(end, room + integer(type, 1))));
    };
    const expr middle = last(q.whole), stop = one_value ? last(q.possible) : end;
    const stmt main =
        with_domain(loop, loop.min, known.simplify(middle - loop.min), whole_tile(loop.body, q));
    const stmt edge = rename_loops(with_domain(loop, middle, known.simplify(stop - middle),
                                               cut_tile(loop.body, q, one_value)));
    stmt main_done = mutate(main);
    return make_seq({std::move(main_done), mutate(edge)});
  }

  int allowance_;
  std::vector<const loop_node*> path_;
};

}  // namespace tilewright::pass::detail::peel

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::function peel_tails(const ir::function& f, const peel_limits& limits) {
  ir::function out = f;
  const int stores = detail::peel::count_stores(f.body);
  out.body = detail::clamped_lanes().mutate(f.body);
  out.body = detail::peel::peeler(limits.growth_base + (limits.growth_factor - 1) * stores)
                 .mutate(out.body);
  out.body = ir::rewrite(
      out.body,
      [](const ir::expr& e) {
        return e->op == ir::op::call && e->name == detail::peel::kept ? e->args[0] : e;
      },
      [](const ir::stmt& s) { return s; });
  return out;
}

}  // namespace tilewright::pass
