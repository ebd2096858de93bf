// Loops of lowered functions that compute products of floats and in which nothing is a vector.
#pragma once

#include <cstdint>

#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/walk.hpp>

namespace tilewright::backend::detail::scalar_loops {

using namespace tilewright::ir;

/// Stores that a call makes, a vector counted as one.
struct stores {
  double all = 0;
  double scalar = 0;  // of `all`, those of products in long innermost loops without vectors
};

/// Iterations from which on a loop is long: two vectors of the widest.
inline constexpr std::int64_t long_extent = 32;

class counter {
 public:
  stores count(const stmt& s) {
    visit(s, 1);
    return found_;
  }

 private:
  /// Whether `s` has no loop, but such as are written out, and no vector.
  static bool is_scalar(const stmt& s) {
    return !any_stmt(s, [](const stmt& x) {
      if (as_while(x)) return true;
      const loop_node* l = as_loop(x);
      return l && (l->loop != loop_kind::unrolled || pass::constant_extent(*l) <= 0);
    });
  }

  /// Copies have lanes of their own (impl/backend/llvm/lanes), which loops of vectors would hide.
  static bool multiplies(const expr& value) {
    bool out = false;
    for_each_expr(value,
                  [&](const expr& e) { out = out || (e->op == op::mul && is_float(e.type())); });
    return out;
  }

  void visit(const stmt& s, double times) {
    if (!s) return;
    const loop_node* loop = as_loop(s);
    if (!loop) return inside(s, times);
    const std::int64_t extent = pass::constant_extent(*loop);
    const double before = products_;
    const double repeated = extent > 0 ? static_cast<double>(extent) : symbolic_extent;
    visit(loop->body, loop->loop == loop_kind::vectorized ? times : times * repeated);
    if (loop->loop == loop_kind::serial && extent >= long_extent && is_scalar(loop->body))
      found_.scalar += products_ - before;
  }

  void inside(const stmt& s, double times) {
    switch (s->kind) {
      case stmt_kind::store:
        if (multiplies(as_store(s)->value)) products_ += times;
        found_.all += times;
        return;
      case stmt_kind::evaluate: found_.all += times; return;
      case stmt_kind::seq:
        for (const stmt& part : as_seq(s)->stmts) visit(part, times);
        return;
      case stmt_kind::if_else:
        visit(as_if(s)->then_body, times);
        return visit(as_if(s)->else_body, times);
      case stmt_kind::let: return visit(as_let(s)->body, times);
      case stmt_kind::allocate: return visit(as_allocate(s)->body, times);
      case stmt_kind::attribute: return visit(as_attribute(s)->body, times);
      case stmt_kind::while_loop: return visit(as_while(s)->body, times * symbolic_extent);
      default: return;
    }
  }

  static constexpr double symbolic_extent = 64;
  stores found_;
  double products_ = 0;  // stores of products so far
};

/// Whether most stores of a call are products, one at a time, in loops that are long enough for vectors.
inline bool dominate(const function& lowered) {
  const stores found = counter{}.count(lowered.body);
  return found.scalar > found.all / 2;
}

}  // namespace tilewright::backend::detail::scalar_loops
