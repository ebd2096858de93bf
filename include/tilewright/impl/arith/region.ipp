#pragma once

#include <tilewright/arith/linear.hpp>
#include <tilewright/arith/region.hpp>
#include <tilewright/arith/relaxer.hpp>

namespace tilewright::arith {
namespace detail {

inline ir::expr end_of(const ir::range& r) { return r.min + r.extent; }

/// The smaller (or larger) of two values, undecided ones as an expression.
inline ir::expr extreme(const ir::expr& a, const ir::expr& b, bool smaller, const analyzer& known) {
  if (same_value(a, b)) return a;
  if (ir::is_int(a) && ir::is_int(b)) return (a->integer < b->integer) == smaller ? a : b;
  return known.simplify(smaller ? ir::min(a, b) : ir::max(a, b));
}

inline bool is_unknown(const ir::range& r) { return !r.min; }

inline ir::range relax_dimension(const ir::range& r, relaxer& by) {
  if (is_unknown(r)) return {};
  const dtype type = r.min.type();
  solver& s = by.rewriting();
  form first = s.to_form(r.min);
  const bool point = ir::is_int(r.extent, 1);
  form last = point ? first : s.to_form(r.extent);
  if (!s.exact(first, type) || !s.exact(last, type)) return {};
  if (!point) {
    add(last, first);
    add_constant(last, -1);
  }
  form lo, hi;
  if (!point || !by.simple(first, lo, hi)) {
    lo = by.lower(first);
    hi = by.upper(last);
  }
  if (!lo.valid || !hi.valid) return {};
  form extent = difference(hi, lo);
  add_constant(extent, 1);
  if (extent.terms.size() > 1) s.recombine(extent, type);
  return {expression(lo, type, r.min), expression(extent, type, r.extent)};
}

}  // namespace detail

TILEWRIGHT_INLINE box relax(const box& b, relaxer& by) {
  box out;
  out.reserve(b.size());
  for (const ir::range& r : b) out.push_back(detail::relax_dimension(r, by));
  return out;
}

TILEWRIGHT_INLINE box relax(const box& b, const loop_domains& relaxed, const analyzer& known) {
  if (known.knows(relaxed)) {
    relaxer by(known, relaxed);
    return relax(b, by);
  }
  analyzer inner = known;
  inner.bind_new(relaxed);
  relaxer by(inner, relaxed);
  return relax(b, by);
}

TILEWRIGHT_INLINE ir::buffer_region relax(const ir::buffer_region& r, const loop_domains& relaxed,
                                          const analyzer& known) {
  ir::buffer_region out{r.buffer, relax(r.box, relaxed, known)};
  for (std::size_t d = 0; d < out.box.size(); ++d)
    if (detail::is_unknown(out.box[d])) {
      const ir::expr& extent = r.buffer->shape[d];
      out.box[d] = {ir::integer(extent.type(), 0), extent};
    }
  return out;
}

TILEWRIGHT_INLINE box unite(const box& a, const box& b, const analyzer& known) {
  box out;
  out.reserve(a.size());
  for (std::size_t d = 0; d < a.size(); ++d) {
    const ir::range &x = a[d], &y = b[d];
    if (detail::is_unknown(x) || detail::is_unknown(y)) {
      out.emplace_back();
      continue;
    }
    if (same_value(x.min, y.min) && same_value(x.extent, y.extent)) {
      out.push_back(x);
      continue;
    }
    const ir::expr lo = detail::extreme(x.min, y.min, true, known);
    const ir::expr hi = detail::extreme(detail::end_of(x), detail::end_of(y), false, known);
    out.push_back({lo, known.simplify(hi - lo)});
  }
  return out;
}

TILEWRIGHT_INLINE box intersect(const box& a, const box& b, const analyzer& known) {
  box out;
  out.reserve(a.size());
  for (std::size_t d = 0; d < a.size(); ++d) {
    const ir::range &x = a[d], &y = b[d];
    if (detail::is_unknown(x) || detail::is_unknown(y)) {
      out.push_back(detail::is_unknown(x) ? y : x);
      continue;
    }
    const ir::expr lo = detail::extreme(x.min, y.min, false, known);
    const ir::expr hi = detail::extreme(detail::end_of(x), detail::end_of(y), true, known);
    const ir::expr extent = known.simplify(hi - lo);
    out.push_back({lo, known.simplify(ir::max(extent, ir::integer(extent.type(), 0)))});
  }
  return out;
}

TILEWRIGHT_INLINE bool covers(const box& outer, const box& inner, const analyzer& known) {
  for (std::size_t d = 0; d < outer.size(); ++d) {
    const ir::range &x = outer[d], &y = inner[d];
    if (detail::is_unknown(x) || detail::is_unknown(y)) return false;
    if (same_value(x.min, y.min) && same_value(x.extent, y.extent)) continue;
    if (!known.prove_le(x.min, y.min) || !known.prove_le(detail::end_of(y), detail::end_of(x)))
      return false;
  }
  return true;
}

TILEWRIGHT_INLINE bool disjoint(const box& a, const box& b, const analyzer& known) {
  for (std::size_t d = 0; d < a.size(); ++d) {
    if (!a[d].min || !a[d].extent || !b[d].min || !b[d].extent) continue;
    if (known.prove_le(a[d].min + a[d].extent, b[d].min) ||
        known.prove_le(b[d].min + b[d].extent, a[d].min))
      return true;
  }
  return false;
}

TILEWRIGHT_INLINE ir::buffer_region clip(const ir::buffer_region& r, const analyzer& known) {
  return {r.buffer, intersect(r.box, ir::full_region(r.buffer).box, known)};
}

TILEWRIGHT_INLINE void add_region(std::vector<ir::buffer_region>& list, ir::buffer_region r,
                                  const analyzer& known) {
  for (ir::buffer_region& each : list) {
    if (each.buffer != r.buffer) continue;
    each.box = unite(each.box, r.box, known);
    return;
  }
  list.push_back(std::move(r));
}

}  // namespace tilewright::arith
