#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/gpu/narrow_indices.hpp>

namespace tilewright::pass::detail::narrowing {

using namespace tilewright::ir;

inline bool fits(const arith::bounds& b) {
  using limits = std::numeric_limits<std::int32_t>;
  return b.lo >= limits::min() && b.hi <= limits::max();
}

/// Operators on numbers of 64 bits, or that compare such, which mean the same on 32 where nothing is lost.
inline bool follows(op what) {
  switch (what) {
    case op::add:
    case op::sub:
    case op::mul:
    case op::floordiv:
    case op::floormod:
    case op::min:
    case op::max:
    case op::lt:
    case op::le:
    case op::gt:
    case op::ge:
    case op::eq:
    case op::ne: return true;
    default: return false;
  }
}

class narrower : public mutator {
 public:
  using mutator::mutate;

  stmt mutate(const stmt& s) override {
    if (const store_node* to = as_store(s)) {
      std::vector<expr> at;
      for (const expr& i : to->indices) at.push_back(index(i));
      return make_store(to->buffer, std::move(at), mutate(to->value));
    }
    const loop_node* loop = as_loop(s);
    if (!loop) return mutator::mutate(s);
    const arith::analyzer before = known_;
    known_.bind(loop->var, range{loop->min, loop->extent});
    const expr min = narrow(loop->min), extent = narrow(loop->extent);
    const bool shrinks =
        loop->var.type() == dtype::i64 && min && extent && fits(known_.const_bounds(loop->var));
    var v = loop->var;
    if (shrinks) small_[loop->var] = v = make_var(loop->var->name, dtype::i32);
    stmt body = mutate(loop->body);
    known_ = before;
    return make_loop(v, shrinks ? min : mutate(loop->min), shrinks ? extent : mutate(loop->extent),
                     std::move(body), loop->loop, loop->annotations, loop->thread_tag);
  }

  expr mutate(const expr& e) override {
    if (e->op == op::load) {
      std::vector<expr> at;
      for (const expr& i : e->args) at.push_back(index(i));
      return load(e->buffer, std::move(at));
    }
    if (e.type() == dtype::i64)
      if (const expr n = narrow(e)) return cast(dtype::i64, n);
    if (e->op == op::cast)
      if (const expr n = narrow(e->args[0])) return cast(e.type(), n);
    if (e->args.size() == 2 && follows(e->op) && e->args[0].type() == dtype::i64) {
      const expr a = narrow(e->args[0]), b = narrow(e->args[1]);
      if (a && b && e.type() == dtype::boolean) return with_args(e, {a, b});
    }
    return mutator::mutate(e);
  }

 private:
  /// The type of an index is of no account.
  expr index(const expr& e) {
    if (const expr n = narrow(e)) return n;
    return mutate(e);
  }

  /// The same number in 32 bits; null where it may not fit, or nothing says so.
  expr narrow(const expr& e) {
    if (e.type() == dtype::i32) return mutate(e);
    if (e.type() != dtype::i64) return {};
    if (is_int(e)) return fits({as_int(e), as_int(e)}) ? integer(dtype::i32, as_int(e)) : expr();
    if (e->op == op::var) {
      const auto found = small_.find(e);
      return found == small_.end() ? expr() : found->second;
    }
    if (e->op == op::cast) return e->args[0].type() == dtype::i32 ? mutate(e->args[0]) : expr();
    if (e->args.size() != 2 || !follows(e->op) || !fits(known_.const_bounds(e))) return {};
    const expr a = narrow(e->args[0]), b = a ? narrow(e->args[1]) : expr();
    return b ? with_args(e, {a, b}) : expr();
  }

  arith::analyzer known_;
  var_map small_;
};

/// Whether a loop counts in 64 bits.
inline bool counts_wide(const stmt& s) {
  return any_stmt(s, [](const stmt& x) {
    const loop_node* loop = as_loop(x);
    return loop && loop->var.type() == dtype::i64;
  });
}

}  // namespace tilewright::pass::detail::narrowing

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::function narrow_indices(const ir::function& f) {
  if (!detail::narrowing::counts_wide(f.body)) return f;
  ir::function out = f;
  out.body = detail::narrowing::narrower{}.mutate(f.body);
  return out;
}

}  // namespace tilewright::pass
