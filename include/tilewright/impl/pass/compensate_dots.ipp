#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/pass/compensate_dots.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::pass::detail::compensate {

using namespace tilewright::ir;

inline constexpr std::int64_t least_uses = 4;  // of a vector of D

/// A sum of products of signed bytes, and what stands around it.
struct signed_dot {
  const store_node* store;
  std::vector<const loop_node*> loops;  // around it, outermost first
  std::vector<expr> guards;             // conjuncts of the conditions around it
  std::size_t outside = 0;              // loops around the allocation of the sums
};

inline bool reads(const expr& e, const buffer& b) {
  bool out = false;
  for_each_expr(e, [&](const expr& x) { out = out || (x->op == op::load && x->buffer == b); });
  return out;
}

/// Which operand of a dot product or of a sum has the sum of `b` in it; nothing for anything else.
inline std::optional<std::size_t> summand(const expr& e, const buffer& b) {
  if (e->op == op::call && e->name == "dot4" && e->args.size() == 9 && e.type() == dtype::i32)
    return 0;
  if (e->op != op::add) return std::nullopt;
  for (std::size_t i = 0; i < 2; ++i)
    if (reads(e->args[i], b)) return i;
  return std::nullopt;
}

/// Whether a dot product has signed bytes that are loaded, as first factors perhaps below a condition; second
/// ones may be 0.
inline bool is_signed_dot(const expr& e) {
  if (e->op != op::call) return false;
  for (std::size_t i = 1; i < e->args.size(); ++i) {
    const expr& x = e->args[i];
    const bool below = x->op == op::if_then_else && x->args[1]->op == op::load &&
                       is_int(x->args[2]) && !reads_memory(x->args[0]);
    const bool fits = x->op == op::load || (i < 5 && below) || (i > 5 && is_int(x, 0));
    if (!fits || x.type() != dtype::i8) return false;
  }
  return true;
}

/// The dot products of signed bytes that a statement adds to the sum that it stores, the last one first, all
/// second factors of one buffer; none for any other statement.
inline std::vector<const expr_node*> signed_products(const store_node& s) {
  std::vector<const expr_node*> out;
  expr e = s.value;
  while (const std::optional<std::size_t> next = summand(e, s.buffer)) {
    for (std::size_t i = 0; i < e->args.size(); ++i)
      if (i != *next && reads(e->args[i], s.buffer)) return {};
    if (is_signed_dot(e)) out.push_back(e.get());
    e = e->args[*next];
  }
  if (e->op != op::load || e->buffer != s.buffer || !same_indices(e->args, s.indices)) return {};
  for (const expr_node* dot : out)
    for (std::size_t i = 5; i < dot->args.size(); ++i)
      if (dot->args[i]->op == op::load && dot->args[i]->buffer != out[0]->args[5]->buffer)
        return {};
  return out;
}

/// Accesses of a buffer in a statement.
inline int accesses(const stmt& s, const buffer& b) {
  int out = 0;
  for_each_stmt(s, [&](const stmt& x) { out += as_store(x) && as_store(x)->buffer == b ? 1 : 0; });
  for_each_expr(s, [&](const expr& e) {
    out += (e->op == op::load || e->op == op::data) && e->buffer == b ? 1 : 0;
  });
  return out;
}

/// What one dot product becomes.
struct change {
  signed_dot dot;
  buffer compensation;                    // D
  std::vector<const loop_node*> columns;  // the loops that index it
  stmt fill;
  const loop_node* outermost = nullptr;  // of those that do not move the sums
  std::vector<const loop_node*> tile;    // the loops inside it that do
  std::vector<expr> tile_guards;
};

class planner {
 public:
  explicit planner(const signed_dot& d) : dot_(d), products_(signed_products(*d.store)) {}

  std::optional<change> plan() {
    change out;
    out.dot = dot_;
    if (!divide(out) || !guards_fit(out)) return std::nullopt;
    make_fill(out);
    return out;
  }

 private:
  static bool moves(const std::vector<expr>& indices, const var& v) {
    return support::any(indices, [&](const expr& e) { return uses_var(e, v); });
  }
  /// Whether the second factor moves with the loop.
  bool moves_factor(const var& v) const {
    return support::any(products_, [&](const expr_node* dot) {
      return support::any(std::vector<expr>(dot->args.begin() + 5, dot->args.end()),
                          [&](const expr& second) { return moves(second->args, v); });
    });
  }

  /// Tells the loops apart: those that index D, those that D sums over, and the others.
  bool divide(change& out) {
    std::int64_t uses = 1;
    for (std::size_t k = 0; k < dot_.loops.size(); ++k) {
      const loop_node* l = dot_.loops[k];
      if (l->loop == loop_kind::thread_binding || constant_extent(*l) <= 0 || !is_int(l->min))
        return false;
      const bool of_sum = k < dot_.outside || moves(dot_.store->indices, l->var);
      if (!of_sum && !out.outermost) out.outermost = l;
      if (of_sum && out.outermost) out.tile.push_back(l);
      if (of_sum && moves_factor(l->var)) out.columns.push_back(l);
      if (of_sum && !moves_factor(l->var)) uses *= constant_extent(*l);
      if (!of_sum || moves_factor(l->var)) inside_.insert(l->var);
      if (!of_sum) summed_.insert(l->var);
    }
    return out.outermost && uses >= least_uses;
  }

  bool guards_fit(change& out) {
    for (const expr& g : dot_.guards) {
      if (reads_memory(g)) return false;
      bool in = false, outside = false, summed = false;
      for (const var& v : free_vars(g)) {
        const bool loop =
            support::any(dot_.loops, [&](const loop_node* l) { return l->var.same(v); });
        in = in || inside_.count(v) > 0;
        outside = outside || (loop && inside_.count(v) == 0);
        summed = summed || summed_.count(v) > 0;
      }
      if (in && outside) return false;
      if (!outside) own_guards_.push_back(g);
      if (!summed) out.tile_guards.push_back(g);
    }
    return true;
  }

  /// for c, v: D[c, v] = 0; for c, k, v: D[c, v] = dot4(D[c, v], 128, .., B[..])
  void make_fill(change& out) const {
    std::vector<expr> shape, at;
    for (const loop_node* l : out.columns) {
      shape.push_back(l->extent);
      at.push_back(l->var - l->min);
    }
    if (shape.empty()) {
      shape.push_back(integer(dtype::i32, 1));
      at.push_back(integer(dtype::i32, 0));
    }
    out.compensation = make_buffer(dot_.store->buffer->name + "_128", dtype::i32, shape);
    expr total = load(out.compensation, at);
    for (const expr_node* dot : products_) {
      std::vector<expr> args{total};
      args.insert(args.end(), 4, integer(dtype::u8, 128));
      args.insert(args.end(), dot->args.begin() + 5, dot->args.end());
      total = call(dtype::i32, "dot4", std::move(args));
    }
    stmt sum = make_store(out.compensation, at, std::move(total));
    if (!own_guards_.empty()) sum = make_if(conjunction(own_guards_), std::move(sum));
    stmt zero = make_store(out.compensation, at, integer(dtype::i32, 0));
    // lanes stay innermost, sums come around them
    const auto around = [](stmt& s, const loop_node* l, const annotations& notes = {}) {
      s = make_loop(l->var, l->min, l->extent, std::move(s),
                    l->loop == loop_kind::vectorized ? l->loop : loop_kind::serial, notes);
    };
    for (const bool lanes : {true, false}) {
      if (!lanes)
        for (std::size_t k = dot_.loops.size(); k-- > 0;)
          if (summed_.count(dot_.loops[k]->var))
            around(sum, dot_.loops[k], dot_.loops[k]->annotations);
      for (std::size_t k = out.columns.size(); k-- > 0;) {
        if ((out.columns[k]->loop == loop_kind::vectorized) != lanes) continue;
        around(sum, out.columns[k]);
        around(zero, out.columns[k]);
      }
    }
    out.fill = make_seq({rename_loops(zero), rename_loops(sum)});
  }

  const signed_dot& dot_;
  std::vector<const expr_node*> products_;
  var_set inside_;  // loops of the fill
  var_set summed_;  // those of them that do not move the sums
  std::vector<expr> own_guards_;
};

class finder : public visitor {
 public:
  using visitor::visit;
  std::vector<change> found;

  void visit(const stmt& s) override {
    if (const loop_node* l = as_loop(s)) {
      here_.loops.push_back(l);
      bodies_.push_back(s);
      visitor::visit(s);
      bodies_.pop_back();
      here_.loops.pop_back();
    } else if (const if_node* n = as_if(s); n && !n->else_body && !here_.loops.empty()) {
      const std::size_t depth = here_.guards.size();
      for (expr& term : conjuncts(n->condition)) here_.guards.push_back(std::move(term));
      visit(n->then_body);
      here_.guards.resize(depth);
    } else if (s && s->kind != stmt_kind::seq && s->kind != stmt_kind::allocate &&
               s->kind != stmt_kind::store) {
      const bool before = std::exchange(opaque_, true);
      visitor::visit(s);
      opaque_ = before;
    } else if (const allocate_node* sums = as_allocate(s)) {
      around_[sums->buffer] = here_.loops.size();
      visitor::visit(s);
    } else if (const store_node* store = as_store(s);
               store && !opaque_ && !signed_products(*store).empty()) {
      here_.store = store;
      here_.outside = around_[store->buffer];
      add();
    } else {
      visitor::visit(s);
    }
  }

 private:
  void add() {
    std::optional<change> c = planner(here_).plan();
    if (!c) return;
    const buffer& factor = signed_products(*here_.store)[0]->args[5]->buffer;
    const auto at = std::find(here_.loops.begin(), here_.loops.end(), c->outermost);
    const stmt& reduction = bodies_[static_cast<std::size_t>(at - here_.loops.begin())];
    if (accesses(reduction, here_.store->buffer) != 2) return;  // the load and the store
    if (stored_buffers(bodies_.front()).count(factor)) return;
    found.push_back(std::move(*c));
  }

  signed_dot here_{};
  std::vector<stmt> bodies_;                        // the loops again
  std::unordered_map<buffer, std::size_t> around_;  // loops around allocations
  bool opaque_ = false;
};

class rewriter : public mutator {
 public:
  explicit rewriter(std::vector<change> changes) : changes_(std::move(changes)) {}
  using mutator::mutate;

  stmt mutate(const stmt& s) override {
    if (const seq_node* seq = as_seq(s)) return in_sequence(*seq, s);
    if (const loop_node* l = as_loop(s)) {
      const stmt out = mutator::mutate(s);
      if (const change* c = of_loop(l)) return make_seq({out, correction(*c)});
      return out;
    }
    if (const store_node* store = as_store(s))
      for (const change& c : changes_)
        if (c.dot.store == store) return moved(c);
    return mutator::mutate(s);
  }

 private:
  const change* of_loop(const loop_node* l) const {
    for (const change& c : changes_)
      if (c.outermost == l) return &c;
    return nullptr;
  }

  stmt in_sequence(const seq_node& seq, const stmt& unchanged) {
    std::vector<stmt> out;
    bool changed = false;
    for (const stmt& child : seq.stmts) {
      const change* c = as_loop(child) ? of_loop(as_loop(child)) : nullptr;
      const stmt first = c && !out.empty() ? beginning(out.back(), *c) : stmt{};
      if (first) {
        out.back() = first;
        out.push_back(mutator::mutate(child));
      } else {
        out.push_back(mutate(child));
      }
      changed = changed || first || out.back() != child;
    }
    return changed ? make_seq(std::move(out)) : unchanged;
  }

  static expr compensation(const change& c, const var_map& map = {}) {
    std::vector<expr> at;
    for (const loop_node* l : c.columns) at.push_back(substitute(l->var - l->min, map));
    if (at.empty()) at.push_back(integer(dtype::i32, 0));
    return load(c.compensation, at);
  }

  /// The loop that sets exactly the sums of the tile to 0, made to set them to -D; null for any
  /// other statement.
  static stmt beginning(const stmt& before, const change& c) {
    var_map map;  // from the tile's loops
    var_map back;
    stmt s = before;
    std::vector<const loop_node*> own;
    for (const loop_node* l : c.tile) {
      const loop_node* o = as_loop(s);
      if (!o || !arith::same_value(o->min, l->min) || !arith::same_value(o->extent, l->extent))
        return {};
      map[l->var] = o->var;
      back[o->var] = l->var;
      own.push_back(o);
      s = o->body;
    }
    std::vector<expr> guards;
    const stmt inner = s;
    if (const if_node* n = as_if(s); n && !n->else_body) {
      guards = conjuncts(substitute(n->condition, back));
      s = n->then_body;
    }
    const store_node* store = as_store(s);
    if (!store || store->buffer != c.dot.store->buffer || !is_int(store->value, 0)) return {};
    std::vector<expr> indices;
    for (const expr& e : store->indices) indices.push_back(substitute(e, back));
    if (!same_indices(indices, c.dot.store->indices) || !same_indices(guards, c.tile_guards))
      return {};
    stmt out =
        make_store(store->buffer, store->indices, integer(dtype::i32, 0) - compensation(c, map));
    if (const if_node* n = as_if(inner)) out = make_if(n->condition, std::move(out));
    for (std::size_t k = own.size(); k-- > 0;) out = with_body(*own[k], std::move(out));
    return out;
  }

  static stmt correction(const change& c) {
    const store_node& s = *c.dot.store;
    stmt out = make_store(s.buffer, s.indices, load(s.buffer, s.indices) - compensation(c));
    if (!c.tile_guards.empty()) out = make_if(conjunction(c.tile_guards), std::move(out));
    for (std::size_t k = c.tile.size(); k-- > 0;) out = with_body(*c.tile[k], std::move(out));
    return rename_loops(out);
  }

  static stmt moved(const change& c) {
    const store_node& s = *c.dot.store;
    return make_store(s.buffer, s.indices, moved(s.value, s.buffer));
  }
  static expr moved(const expr& e, const buffer& sums) {
    const std::optional<std::size_t> next = summand(e, sums);
    if (!next) return e;
    std::vector<expr> args = e->args;
    args[*next] = moved(args[*next], sums);
    if (is_signed_dot(e))
      for (std::size_t i = 1; i <= 4; ++i)
        args[i] = cast(dtype::u8, args[i]) + integer(dtype::u8, 128);
    return with_args(e, std::move(args));
  }

  std::vector<change> changes_;
};

/// Puts the fill before the outermost statement that uses it and does not store the factor. Around
/// the loops stand allocations and sequences alone.
inline stmt with_fill(const stmt& s, const change& c, const buffer& factor) {
  const allocate_node* n = as_allocate(s);
  if (n && stored_buffers(n->body).count(factor))
    return make_allocate(n->buffer, with_fill(n->body, c, factor));
  const seq_node* seq = as_seq(s);
  if (!seq) return make_allocate(c.compensation, make_seq({c.fill, s}));
  std::vector<stmt> out, rest{c.fill};
  for (const stmt& child : seq->stmts) {
    const bool used = rest.size() > 1 || loaded_buffers(child).count(c.compensation) > 0;
    (used ? rest : out).push_back(child);
  }
  if (stored_buffers(rest[1]).count(factor)) {
    out.push_back(with_fill(rest[1], c, factor));
    out.insert(out.end(), rest.begin() + 2, rest.end());
  } else {
    out.push_back(make_allocate(c.compensation, make_seq(rest)));
  }
  return make_seq(std::move(out));
}

}  // namespace tilewright::pass::detail::compensate

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::function compensate_dots(const ir::function& f, const target::cpu& target) {
  if (!target.has("avx512vnni") && !target.has("avxvnni")) return f;
  detail::compensate::finder find;
  find.visit(f.body);
  if (find.found.empty()) return f;
  ir::function out = f;
  out.body = detail::compensate::rewriter(find.found).mutate(f.body);
  for (const auto& c : find.found)
    out.body = detail::compensate::with_fill(
        out.body, c, detail::compensate::signed_products(*c.dot.store)[0]->args[5]->buffer);
  return out;
}

}  // namespace tilewright::pass
