// Function values that a loop computes again in each of its iterations, for the iterations of loops inside it.
//
//   for h in range(12):                          for d in vectorized(16): table[d] = cos(F[d] * t)
//     for d in vectorized(16):            ->     for h in range(12):
//       Y[h, d] = X[h, d] * cos(F[d] * t)          for d in vectorized(16):
//                                                    Y[h, d] = X[h, d] * table[d]
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::pass::detail::invariants {

using namespace tilewright::ir;

/// Iterations of a loop that pay for a table.
inline constexpr std::int64_t least_uses = 4;

inline bool is_call_of(const expr& e, std::initializer_list<std::string_view> names) {
  return e->op == op::call && std::any_of(names.begin(), names.end(),
                                          [&](std::string_view name) { return e->name == name; });
}

/// Whether the quotient is computed as a product: by a power of two.
inline bool is_scaling(const expr& e) {
  int exponent = 0;
  return e->op == op::div && e->args[1]->op == op::real &&
         std::abs(std::frexp(e->args[1]->real, &exponent)) == 0.5;
}

/// Bytes that a table of such values may have; 0 where the value takes no longer than reading it. Those of functions may lie in a core's
/// own cache beside what the loop reads; those of roots and quotients have to be in the nearest one: columns of 192 numbers that are
/// normalized by sums of their own take 30 us with a root and two quotients for each number, and 22 us with these in tables.
inline std::int64_t most_table_bytes(const expr& e) {
  if (e.type() != dtype::f32 && e.type() != dtype::f64) return 0;
  if ((e->op == op::div && !is_scaling(e)) || is_call_of(e, {"sqrt", "rsqrt"}))
    return std::int64_t{8} * 1024;
  const bool is_short = is_call_of(e, {"abs", "fabs", "floor", "ceil", "round", "trunc", "fma",
                                       "nearbyint", "maximum", "minimum", "isnan", "likely"});
  return e->op == op::call && !is_short ? std::int64_t{128} * 1024 : 0;
}

/// A value and the loops around it, inside the one that repeats it, whose variables it uses.
struct table {
  expr value;
  std::vector<const loop_node*> loops;  // outermost first
  buffer elements = {};

  std::vector<expr> at() const {
    std::vector<expr> out;
    for (const loop_node* l : loops) out.push_back(l->var - l->min);
    return out;
  }
};

/// Finds the largest values inside a loop that do not depend on it, but on loops inside it.
class table_finder {
 public:
  explicit table_finder(const loop_node& loop) : stored_(stored_buffers(loop.body)) {
    bound_.insert(loop.var);
    var_set seen;  // loops beside each other may have one variable, and other domains
    for_each_stmt(loop.body, [&](const stmt& s) {
      const loop_node* l = as_loop(s);
      if (l && !seen.insert(l->var).second) bound_.insert(l->var);
    });
    look(loop.body, true);
  }

  std::vector<table> found;

 private:
  /// `always`: every iteration of the loops around comes here.
  void look(const stmt& s, bool always) {
    switch (s->kind) {
      case stmt_kind::seq:
        for (const stmt& child : as_seq(s)->stmts) look(child, always);
        return;
      case stmt_kind::loop: return look_into(*as_loop(s), always);
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

  void look_into(const loop_node& loop, bool always) {
    if (loop.loop == loop_kind::parallel) return;
    const bool counts = constant_extent(loop) > 0 && is_int(loop.min);
    if (counts)
      loops_.push_back(&loop);
    else
      bound_.insert(loop.var);
    look(loop.body, always && constant_extent(loop) > 0);
    if (counts) loops_.pop_back();
  }

  void look(const expr& e, bool always) {
    if (most_table_bytes(e) > 0 && keep(e, always)) return;
    for (std::size_t k = 0; k < e->args.size(); ++k)
      look(e->args[k], always && (e->op != op::if_then_else || k == 0));
  }

  /// @returns whether the value is in a table now
  bool keep(const expr& e, bool always) {
    bool fixed = always;
    for_each_expr(e, [&](const expr& x) {
      fixed = fixed && x->op != op::let && x->op != op::data &&
              !(x->op == op::var && bound_.count(x) != 0) &&
              !(x->op == op::load && stored_.count(x->buffer) != 0) &&
              !(x->op == op::call && !is_float(x.type()));
    });
    if (!fixed) return false;
    table made{e, {}};
    std::int64_t elements = 1;
    for (const loop_node* l : loops_) {
      if (!uses_var(e, l->var)) continue;
      made.loops.push_back(l);
      elements *= constant_extent(*l);
      if (elements * bytes(e.type()) > most_table_bytes(e)) return false;
    }
    if (made.loops.empty()) return false;  // one value, which hoist_invariants moves
    if (support::none(found, [&](const table& t) { return equal(t.value, e); }))
      found.push_back(std::move(made));
    return true;
  }

  buffer_set stored_;
  var_set bound_;
  std::vector<const loop_node*> loops_;
};

/// Reads tables instead of computing their values.
class table_reader : public mutator {
 public:
  explicit table_reader(const std::vector<table>& tables) : tables_(tables) {}
  using mutator::mutate;
  expr mutate(const expr& e) override {
    if (most_table_bytes(e) > 0)
      for (const table& t : tables_)
        if (equal(t.value, e)) return load(t.elements, t.at());
    return mutator::mutate(e);
  }
  stmt mutate(const stmt& s) override {
    const loop_node* loop = as_loop(s);
    return loop && loop->loop == loop_kind::parallel ? s : mutator::mutate(s);
  }

 private:
  const std::vector<table>& tables_;
};

/// What a loop computes again in each of its iterations.
class loop_tables {
 public:
  explicit loop_tables(const loop_node& loop) {
    if (loop.loop != loop_kind::serial || constant_extent(loop) < least_uses) return;
    tables_ = table_finder(loop).found;
    for (table& t : tables_) {
      std::vector<expr> shape;
      for (const loop_node* l : t.loops) shape.push_back(l->extent);
      t.elements = make_buffer("table", t.value.type(), std::move(shape));
      stmt fill = make_store(t.elements, t.at(), t.value);
      for (std::size_t k = t.loops.size(); k-- > 0;) {
        const loop_node& l = *t.loops[k];
        fill = make_loop(l.var, l.min, l.extent, std::move(fill), l.loop);
      }
      fills_.push_back(rename_loops(fill));
    }
  }

  /// The body of the loop, which reads the tables.
  stmt read_in(const stmt& body) const {
    return tables_.empty() ? body : table_reader(tables_).mutate(body);
  }
  /// The loop behind the computation of its tables.
  stmt around(stmt loop) const {
    if (tables_.empty()) return loop;
    std::vector<stmt> all = fills_;
    all.push_back(std::move(loop));
    stmt out = make_seq(std::move(all));
    for (const table& t : tables_) out = make_allocate(t.elements, std::move(out));
    return out;
  }

 private:
  std::vector<table> tables_;
  std::vector<stmt> fills_;
};

}  // namespace tilewright::pass::detail::invariants
