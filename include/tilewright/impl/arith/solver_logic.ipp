// Comparisons, connectives and everything around index expressions.
#pragma once

#include <numeric>

#include <tilewright/arith/linear.hpp>
#include <tilewright/arith/solver.hpp>

namespace tilewright::arith {
namespace detail {

inline bool is_order(ir::op o) {
  return o == ir::op::lt || o == ir::op::le || o == ir::op::gt || o == ir::op::ge;
}

inline bool compares_indices(const ir::expr& e) {
  return (is_order(e->op) || e->op == ir::op::eq || e->op == ir::op::ne) &&
         is_index(e->args[0].type());
}

/// Not `e`; comparisons of integers are turned around.
inline ir::expr negation(const ir::expr& e) {
  if (!compares_indices(e)) return ir::logical_not(e);
  const ir::expr &a = e->args[0], &b = e->args[1];
  switch (e->op) {
    case ir::op::lt: return ir::le(b, a);
    case ir::op::le: return ir::lt(b, a);
    case ir::op::gt: return ir::le(a, b);
    case ir::op::ge: return ir::lt(a, b);
    case ir::op::eq: return ir::ne(a, b);
    default: return ir::eq(a, b);
  }
}

/// f * -1 - 1: what is nonnegative where f is negative.
inline form complement(form f) {
  scale(f, -1);
  add_constant(f, -1);
  return f;
}

inline void flatten(const ir::expr& e, ir::op o, std::vector<ir::expr>& out) {
  if (e->op != o) return out.push_back(e);
  flatten(e->args[0], o, out);
  flatten(e->args[1], o, out);
}

}  // namespace detail

TILEWRIGHT_INLINE ir::expr solver::children(const ir::expr& e) {
  if (e->args.empty()) return e;
  bool changed = false;
  std::vector<ir::expr> args;
  args.reserve(e->args.size());
  for (const ir::expr& arg : e->args) {
    args.push_back(simplify(arg));
    changed = changed || !args.back().same(arg);
  }
  return changed ? ir::with_args(e, std::move(args)) : e;
}

TILEWRIGHT_INLINE const ir::expr& solver::kept_children(const ir::expr& e) {
  ir::expr out = children(e);
  return out.same(e) ? e : keeper_.keep(std::move(out));
}

TILEWRIGHT_INLINE ir::expr solver::simplify(const ir::expr& e) {
  using ir::op;
  switch (e->op) {
    case op::integer:
    case op::real: return e;
    case op::var: {
      const bounds* known = known_.find(e.get());
      return known && known->is_point() ? ir::integer(e.type(), known->lo) : e;
    }
    case op::lt:
    case op::le:
    case op::gt:
    case op::ge: return compare(e);
    case op::eq:
    case op::ne: return equality(e);
    case op::logical_and:
    case op::logical_or: return connective(e);
    case op::logical_not: {
      const ir::expr inner = simplify(e->args[0]);
      if (detail::compares_indices(inner)) return simplify(detail::negation(inner));
      return inner.same(e->args[0]) ? e : ir::logical_not(inner);
    }
    default: break;
  }
  if (is_index(e.type())) return expression(to_form(e), e.type(), e);
  if (e->op == op::select || e->op == op::if_then_else) return choice(e);
  return children(e);
}

TILEWRIGHT_INLINE form solver::inequality(const ir::expr& e) {
  if (detail::is_order(e->op) && is_index(e->args[0].type()))
    return inequality(e->op, to_form(e->args[0]), to_form(e->args[1]), e->args[0].type());
  form out;
  out.valid = false;
  return out;
}

TILEWRIGHT_INLINE form solver::inequality(ir::op o, const form& a, const form& b, dtype type) {
  form out;
  out.valid = false;
  if (!exact(a, type) || !exact(b, type)) return out;
  const bool less = o == ir::op::lt || o == ir::op::le;
  const bool strict = o == ir::op::lt || o == ir::op::gt;
  out = less ? difference(b, a) : difference(a, b);
  if (strict) add_constant(out, -1);
  if (out.terms.size() > 1) recombine(out, type);
  return out;
}

/// `e` with the operands a and b.
TILEWRIGHT_INLINE ir::expr solver::with_forms(const ir::expr& e, const form& a,
                                              const form& b) const {
  const dtype type = e->args[0].type();
  const ir::expr x = expression(a, type, e->args[0]), y = expression(b, type, e->args[1]);
  return x.same(e->args[0]) && y.same(e->args[1]) ? e : ir::with_args(e, {x, y});
}

TILEWRIGHT_INLINE ir::expr solver::compare(const ir::expr& e) {
  const dtype type = e->args[0].type();
  if (!is_index(type)) return children(e);
  const form a = to_form(e->args[0]), b = to_form(e->args[1]);
  const form d = inequality(e->op, a, b, type);
  if (!d.valid) return with_forms(e, a, b);
  if (nonnegative(d)) return ir::boolean(true);
  if (nonnegative(detail::complement(d))) return ir::boolean(false);
  // data may leave the type once operands change sides
  return d.data ? with_forms(e, a, b) : order(d, type, e);
}

/// The comparison of d >= 0: falling terms on the left, rising ones on the right, coprime
/// coefficients. `x < 5`, `5 <= x`, `x + 1 < y` and `x <= y + 1` are in this form.
TILEWRIGHT_INLINE ir::expr solver::order(const form& d, dtype type, const ir::expr& like) const {
  form left, right;
  const std::int64_t g = common_factor(d);
  for (const summand& s : d.terms) {
    if (s.coefficient > 0)
      right.terms.push_back({&s.term(), s.coefficient / g});
    else
      left.terms.push_back({&s.term(), -(s.coefficient / g)});
  }
  const std::int64_t constant = ir::floor_divide(d.constant, g);  // left <= right + constant
  bool strict = false;
  if (constant == bounds::positive_infinity || constant == bounds::negative_infinity) {
    right.constant = constant;
  } else if (right.terms.empty()) {
    strict = true;
    right.constant = constant + 1;
  } else if (left.terms.empty()) {
    left.constant = -constant;
  } else if (constant >= 0) {
    right.constant = constant;
  } else {
    strict = true;
    left.constant = -constant - 1;
  }
  const bool forward = like->op == ir::op::lt || like->op == ir::op::le;
  const ir::expr x = expression(left, type, like->args[forward ? 0 : 1]);
  const ir::expr y = expression(right, type, like->args[forward ? 1 : 0]);
  if (forward && (like->op == ir::op::lt) == strict && x.same(like->args[0]) &&
      y.same(like->args[1]))
    return like;
  return strict ? ir::lt(x, y) : ir::le(x, y);
}

TILEWRIGHT_INLINE ir::expr solver::equality(const ir::expr& e) {
  const dtype type = e->args[0].type();
  if (!is_index(type)) {
    const ir::expr out = children(e);
    const bool same = (out->op == ir::op::eq || out->op == ir::op::ne) && !is_float(type) &&
                      same_value(out->args[0], out->args[1]);
    return same ? ir::boolean(out->op == ir::op::eq) : out;
  }
  const form a = to_form(e->args[0]), b = to_form(e->args[1]);
  const bool is_eq = e->op == ir::op::eq;
  form d = difference(a, b);
  if (d.is_constant() && d.constant == 0) return ir::boolean(is_eq);
  if (!exact(a, type) || !exact(b, type) || !d.valid) return with_forms(e, a, b);
  if (d.terms.size() > 1) recombine(d, type);
  if (d.is_constant()) return ir::boolean((d.constant == 0) == is_eq);
  const std::int64_t g = common_factor(d);
  form above = d;
  add_constant(above, -1);
  if (d.constant % g != 0 || nonnegative(above) || nonnegative(detail::complement(d)))
    return ir::boolean(!is_eq);
  form opposite = d;
  scale(opposite, -1);
  if (nonnegative(d) && nonnegative(opposite)) return ir::boolean(is_eq);
  if (d.data || d.constant == bounds::negative_infinity) return with_forms(e, a, b);
  form left, right;
  for (const summand& s : d.terms) {
    if (s.coefficient > 0)
      left.terms.push_back({&s.term(), s.coefficient / g});
    else
      right.terms.push_back({&s.term(), -(s.coefficient / g)});
  }
  if (left.terms.empty()) {
    std::swap(left, right);
    d.constant = -d.constant;
  }
  const std::int64_t constant = d.constant / g;  // left + constant == right
  (constant > 0 && !right.terms.empty() ? left.constant : right.constant) =
      constant > 0 && !right.terms.empty() ? constant : -constant;
  const ir::expr x = expression(left, type, e->args[0]), y = expression(right, type, e->args[1]);
  if (x.same(e->args[0]) && y.same(e->args[1])) return e;
  return is_eq ? ir::eq(x, y) : ir::ne(x, y);
}

TILEWRIGHT_INLINE ir::expr solver::connective(const ir::expr& e) {
  const bool is_and = e->op == ir::op::logical_and;
  std::vector<ir::expr> given, parts;
  detail::flatten(e, e->op, given);
  bool changed = false;
  for (const ir::expr& each : given) {
    ir::expr part = simplify(each);
    changed = changed || !part.same(each);
    if (ir::is_int(part)) {
      if ((part->integer != 0) != is_and) return part;
      continue;
    }
    detail::flatten(part, e->op, parts);
  }
  // what part i says as a form: an order comparison, turned around inside of a disjunction so that
  // in both cases "i makes j superfluous" is "form i >= 0 implies form j >= 0"
  std::vector<form> forms;
  for (const ir::expr& part : parts) {
    form f = inequality(part);
    forms.push_back(is_and || !f.valid ? std::move(f) : detail::complement(std::move(f)));
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (std::size_t j = 0; j < parts.size();) {
      if (i == j) {
        ++j;
        continue;
      }
      bool superfluous = same_value(parts[i], parts[j]);
      if (!superfluous && forms[i].valid && forms[j].valid) {
        superfluous = range(difference(forms[j], forms[i]), false).lo >= 0;
        form sum = forms[i];
        add(sum, forms[j]);
        if (range(sum, false).hi < 0) return ir::boolean(!is_and);
      }
      if (!superfluous) {
        ++j;
        continue;
      }
      changed = true;
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(j));
      forms.erase(forms.begin() + static_cast<std::ptrdiff_t>(j));
      if (j < i) --i;
    }
  }
  if (!changed && parts.size() == given.size()) return e;
  ir::expr out = ir::boolean(is_and);
  for (const ir::expr& part : parts)
    out = is_and ? ir::logical_and(out, part) : ir::logical_or(out, part);
  return out;
}

/// A branch, with what its condition tells; leaves have nothing to gain.
TILEWRIGHT_INLINE ir::expr solver::simplify_if(const ir::expr& condition, const ir::expr& branch) {
  if (branch->args.empty()) return simplify(branch);
  analyzer inside = known_;
  inside.assume(condition);
  return inside.simplify(branch);
}

TILEWRIGHT_INLINE ir::expr solver::choice(const ir::expr& e) {
  const ir::expr condition = simplify(e->args[0]);
  if (ir::is_int(condition)) return simplify(e->args[condition->integer != 0 ? 1 : 2]);
  const ir::expr yes = simplify_if(condition, e->args[1]);
  const ir::expr no = simplify_if(detail::negation(condition), e->args[2]);
  if (same_value(yes, no)) return yes;
  const bool same = condition.same(e->args[0]) && yes.same(e->args[1]) && no.same(e->args[2]);
  return same ? e : ir::with_args(e, {condition, yes, no});
}

TILEWRIGHT_INLINE bool solver::prove(const ir::expr& e) {
  using ir::op;
  switch (e->op) {
    case op::integer: return e->integer != 0;
    case op::logical_and: return prove(e->args[0]) && prove(e->args[1]);
    case op::eq:
    case op::ne:
      if (is_index(e->args[0].type())) return prove_equality(e);
      break;
    case op::lt:
    case op::le:
    case op::gt:
    case op::ge:
      if (is_index(e->args[0].type())) {
        const form d = inequality(e);
        return d.valid && nonnegative(d);
      }
      break;
    case op::logical_or:
      if (prove(e->args[0]) || prove(e->args[1])) return true;
      break;
    case op::logical_not:
      if (detail::compares_indices(e->args[0])) return prove(detail::negation(e->args[0]));
      break;
    default: break;
  }
  for (const ir::expr& truth : known_.truths_)
    if (same_value(truth, e)) return true;
  return ir::is_true(simplify(e));
}

TILEWRIGHT_INLINE bool solver::prove_equality(const ir::expr& e) {
  const form a = to_form(e->args[0]), b = to_form(e->args[1]);
  form d = difference(a, b);
  if (!d.valid) return false;
  if (e->op == ir::op::eq && d.is_constant() && d.constant == 0) return true;
  const dtype type = e->args[0].type();
  if (!exact(a, type) || !exact(b, type)) return false;
  if (d.terms.size() > 1) recombine(d, type);
  if (d.is_constant()) return (d.constant == 0) == (e->op == ir::op::eq);
  form other = d;
  if (e->op == ir::op::eq) {
    scale(other, -1);
    return nonnegative(d) && nonnegative(other);
  }
  if (d.constant % common_factor(d) != 0) return true;
  add_constant(other, -1);
  return nonnegative(other) || nonnegative(detail::complement(d));
}

}  // namespace tilewright::arith
