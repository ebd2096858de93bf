// Random index expressions over small domains and their values, for tests against brute force.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/arith/analyzer.hpp>

namespace testing {

using namespace tilewright;

/// Small deterministic generator; the tests need no quality.
struct dice {
  std::uint64_t state;
  explicit dice(std::uint64_t seed) : state(seed * 2 + 1) {}
  std::int64_t below(std::int64_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::int64_t>((state >> 33) % static_cast<std::uint64_t>(n));
  }
  std::int64_t between(std::int64_t lo, std::int64_t hi) { return lo + below(hi - lo + 1); }
};

struct variable {
  ir::var var;
  std::int64_t lo, hi;  // inclusive
  std::int64_t value = 0;
};
using variables = std::vector<variable>;

/// Value by the semantics at the head of ir/expr.hpp. `defined` is cleared on a division by zero; a
/// load gives a hash of its index.
inline std::int64_t evaluate(const ir::expr& e, const variables& vars, bool& defined) {
  using ir::op;
  const auto arg = [&](std::size_t i) { return evaluate(e->args[i], vars, defined); };
  switch (e->op) {
    case op::var:
      for (const variable& v : vars)
        if (v.var.same(e)) return v.value;
      return 0;
    case op::integer: return e->integer;
    case op::cast: return ir::wrap_to(e.type(), arg(0));
    case op::select:
    case op::if_then_else: return arg(0) != 0 ? arg(1) : arg(2);
    case op::logical_and: return arg(0) != 0 && arg(1) != 0;
    case op::logical_or: return arg(0) != 0 || arg(1) != 0;
    case op::logical_not: return arg(0) == 0;
    case op::eq: return arg(0) == arg(1);
    case op::ne: return arg(0) != arg(1);
    case op::lt: return arg(0) < arg(1);
    case op::le: return arg(0) <= arg(1);
    case op::gt: return arg(0) > arg(1);
    case op::ge: return arg(0) >= arg(1);
    case op::load:
      return ir::wrap_to(e.type(),
                         static_cast<std::int64_t>(
                             static_cast<std::uint64_t>(arg(0) + 77) * 0x9e3779b97f4a7c15u >> 7));
    default: break;
  }
  const std::int64_t a = arg(0), b = arg(1);
  const bool divides =
      e->op == op::div || e->op == op::mod || e->op == op::floordiv || e->op == op::floormod;
  if (divides && b == 0) {
    defined = false;
    return 0;
  }
  return ir::fold_integer(e->op, e.type(), a, b);
}

/// `e` in one line, for a failing random case.
inline std::string code(const ir::expr& e) {
  static const char* const names[] = {"",
                                      "",
                                      "",
                                      "+",
                                      "-",
                                      "*",
                                      "div",
                                      "mod",
                                      "floordiv",
                                      "floormod",
                                      "min",
                                      "max",
                                      "==",
                                      "!=",
                                      "<",
                                      "<=",
                                      ">",
                                      ">=",
                                      "and",
                                      "or",
                                      "not",
                                      "select",
                                      "if_then_else",
                                      "cast",
                                      "load",
                                      "call"};
  if (e->op == ir::op::var) return e->name;
  if (e->op == ir::op::integer) return std::to_string(e->integer);
  std::string out = names[static_cast<int>(e->op)];
  if (e->op == ir::op::cast) out += " " + std::string(name(e.type()));
  out += "(";
  for (const ir::expr& arg : e->args) out += code(arg) + ", ";
  return out + ")";
}

/// Calls f at every point of the domain.
template <class F>
void for_each_point(variables& vars, F f, std::size_t from = 0) {
  if (from == vars.size()) return f();
  for (vars[from].value = vars[from].lo; vars[from].value <= vars[from].hi; ++vars[from].value)
    for_each_point(vars, f, from + 1);
}

/// Grows index expressions and conditions.
struct grower {
  dice& d;
  const variables& vars;
  ir::buffer data;  // null: no loads

  ir::expr constant() {
    static constexpr std::int64_t usual[] = {1, 2, 3, 4, 5, 6, 8, 12, 16};
    return ir::integer(dtype::i32, d.below(4) ? usual[d.below(9)] : d.between(-20, 20));
  }
  ir::expr divisor() {
    return d.below(8)
               ? ir::integer(dtype::i32, d.below(2) ? 1 << d.between(1, 4) : d.between(2, 12))
           : d.below(2) ? ir::integer(dtype::i32, -d.between(1, 5))
                        : index(1);
  }
  ir::expr index(int depth) {
    if (depth == 0 || d.below(8) == 0)
      return d.below(5)
                 ? vars[static_cast<std::size_t>(d.below(static_cast<std::int64_t>(vars.size())))]
                       .var
                 : constant();
    const int less = depth - 1;
    switch (d.below(data ? 19 : 17)) {
      case 0:
      case 1:
      case 2: return index(less) + index(less);
      case 3:
      case 4: return index(less) - index(less);
      case 5:
      case 6: return index(less) * constant();
      case 7: return index(less / 2) * index(less / 2);
      case 8:
      case 9: return ir::floordiv(index(less), divisor());
      case 10:
      case 11: return ir::floormod(index(less), divisor());
      case 12:
        return d.below(2) ? ir::min(index(less), index(less)) : ir::max(index(less), index(less));
      case 13: return ir::select(condition(less), index(less), index(less));
      case 14:
        return d.below(2) ? ir::div(index(less), divisor()) : ir::mod(index(less), divisor());
      case 15: {
        const ir::expr x = index(less);  // quotient and remainder of one thing
        const ir::expr k = ir::integer(dtype::i32, d.between(2, 8));
        return ir::floordiv(x, k) * k + (d.below(2) ? ir::floormod(x, k) : -x);
      }
      case 16: {  // a detour through 64 bits
        const ir::expr a = ir::cast(dtype::i64, index(less)), b = ir::cast(dtype::i64, index(less));
        const ir::expr k = ir::integer(dtype::i64, d.between(1, 9));
        switch (d.below(4)) {
          case 0: return ir::cast(dtype::i32, a * k + b);
          case 1: return ir::cast(dtype::i32, ir::floordiv(a - b, k));
          case 2: return ir::cast(dtype::i32, ir::floormod(a, k) - ir::min(a, b));
          default: return ir::select(ir::lt(a + k, b), index(less), index(less));
        }
      }
      default: return ir::cast(dtype::i32, ir::load(data, {index(less)}));
    }
  }
  ir::expr condition(int depth) {
    if (depth > 0 && d.below(3) == 0) {
      const ir::expr a = condition(depth - 1), b = condition(depth - 1);
      switch (d.below(3)) {
        case 0: return ir::logical_and(a, b);
        case 1: return ir::logical_or(a, b);
        default: return ir::logical_not(a);
      }
    }
    const ir::expr a = index(depth), b = d.below(2) ? index(depth) : constant();
    switch (d.below(6)) {
      case 0: return ir::lt(a, b);
      case 1: return ir::le(a, b);
      case 2: return ir::gt(a, b);
      case 3: return ir::ge(a, b);
      case 4: return ir::eq(a, b);
      default: return ir::ne(a, b);
    }
  }
};

}  // namespace testing
