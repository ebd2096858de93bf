#pragma once

#include <algorithm>

#include <tilewright/arith/iter_builder.hpp>
#include <tilewright/arith/linear.hpp>
#include <tilewright/ir/visit.hpp>

namespace tilewright::arith {
namespace detail {

constexpr std::int64_t unknown_extent = std::int64_t{1} << 40;

inline std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace detail

TILEWRIGHT_INLINE iter_builder::iter_builder(const loop_domains& loops, const analyzer& outside,
                                             const analyzer& known)
    : outside_(outside), known_(known), loops_(loops), solver_(known) {
  marks_.reserve(loops.size() + 4);
  minimums_.reserve(loops.size());
  for (const auto& [v, r] : loops) {
    mark m;
    m.source = v;
    ir::expr least = r.min;
    if (ir::is_int(r.min) && ir::is_int(r.extent) && r.extent->integer <= detail::unknown_extent) {
      const bounds b = known.const_bounds(v);
      const std::int64_t lo = std::max(r.min->integer, b.lo);
      const std::int64_t hi = std::min(r.min->integer + r.extent->integer - 1, b.hi);
      m.extent = hi - lo + 1;
      if (lo != r.min->integer) least = ir::integer(v.type(), lo);
    } else {
      m.extent = detail::unknown_extent;
      m.exact = false;
      m.symbolic_extent = r.extent;
    }
    marks_.push_back(std::move(m));
    minimums_.push_back(std::move(least));
  }
}

TILEWRIGHT_INLINE bool iter_builder::uses_loops(const ir::expr& e) const {
  if (e->op == ir::op::var) {
    for (const auto& loop : loops_)
      if (loop.first.same(e)) return true;
    return false;
  }
  for (const ir::expr& arg : e->args)
    if (uses_loops(arg)) return true;
  return false;
}

/// Extent that the digit would have without its own modulus.
TILEWRIGHT_INLINE std::int64_t iter_builder::extent_above(const digit& d) const {
  return detail::ceil_divide(marks_[d.mark].extent, d.lower);
}

TILEWRIGHT_INLINE bool iter_builder::is_top(const digit& d) const {
  return d.extent >= extent_above(d);
}

// --- reading expressions

TILEWRIGHT_INLINE bool iter_builder::parse(const ir::expr& e, digit_sum& out) {
  const form f = solver_.to_form(e);
  return solver_.exact(f, e.type()) && parse_form(f, out);
}

TILEWRIGHT_INLINE bool iter_builder::parse_form(const form& f, digit_sum& out) {
  add_constant(out.base, f.constant);
  for (const summand& s : f.terms)
    if (!parse_term(s.term(), s.coefficient, out)) return false;
  return out.base.valid && f.valid;
}

TILEWRIGHT_INLINE bool iter_builder::parse_term(const ir::expr& t, std::int64_t coefficient,
                                                digit_sum& out) {
  if (!uses_loops(t)) {
    add_term(out.base, t, coefficient);
    return true;
  }
  if (t->op == ir::op::floordiv || t->op == ir::op::floormod)
    return parse_quotient(t, coefficient, out);
  if (t->op != ir::op::var) return false;
  for (std::size_t m = 0; m < loops_.size(); ++m) {
    if (!loops_[m].first.same(t)) continue;
    add(out.base, solver_.to_form(minimums_[m]), coefficient);
    out.digits.push_back({m, 1, marks_[m].extent, coefficient});
  }
  return true;
}

/// (scale * x + base) // k and % k for a digit x: the base must not shift x against the blocks of
/// k.
TILEWRIGHT_INLINE bool iter_builder::parse_quotient(const ir::expr& t, std::int64_t coefficient,
                                                    digit_sum& out) {
  if (!ir::is_int(t->args[1]) || t->args[1]->integer <= 0 || may_wrap(t)) return false;
  const std::int64_t k = t->args[1]->integer;
  const bool quotient = t->op == ir::op::floordiv;
  digit_sum inner;
  digit x;
  if (!parse_form(plain_form(t->args[0]), inner)) return false;
  // a digit is split as it stands, even where a part of it is consumed: its parts may fit
  merge(inner.digits);
  if (inner.digits.size() == 1 && inner.digits[0].scale > 0)
    x = inner.digits[0];
  else if (!fuse(inner.digits, x))
    return false;
  const std::int64_t g = x.scale;
  // (g * x + b) // (g * k') == (x + b // g) // k', since the rest of b below g never carries
  if (k % g != 0) return false;
  const std::int64_t size = k / g;
  form offset = solver_.divide(inner.base, g, t.type());
  form rest = difference(inner.base, offset);
  if (g > 1) {
    rest = inner.base;
    add(rest, offset, -g);
  } else {
    rest = form{};
  }
  const form blocks = solver_.divide(offset, size, t.type());
  form check = blocks;
  scale(check, size);
  check = difference(check, offset);
  if (!check.is_constant() || check.constant != 0) return false;
  digit part;
  if (!split(x, size, quotient, part)) return false;
  part.scale = coefficient;
  if (quotient) {
    add(out.base, blocks, coefficient);
  } else {
    if (__builtin_mul_overflow(coefficient, g, &part.scale)) return false;
    add(out.base, rest, coefficient);
  }
  if (part.extent > 1) out.digits.push_back(part);
  return true;
}

/// d // k or d % k as a digit; one that does not divide evenly becomes a mark of its own first.
TILEWRIGHT_INLINE bool iter_builder::split(const digit& d, std::int64_t k, bool quotient,
                                           digit& out) {
  digit from = d;
  from.scale = 1;
  if (!marks_[d.mark].exact && k != 1) return false;
  if (k >= from.extent) {  // all of it is remainder
    out = from;
    if (quotient) out.extent = 1;
    return true;
  }
  if (from.extent % k != 0 && !is_top(from)) {
    std::vector<digit> whole{from};
    if (!fuse(whole, from)) return false;
    const std::size_t m = fresh_mark({from}, from.extent, true);
    from = {m, 1, marks_[m].extent, 1};
  }
  out = from;
  if (quotient) {
    out.lower = from.lower * k;
    out.extent = detail::ceil_divide(from.extent, k);
  } else {
    out.extent = k;
  }
  return true;
}

// --- fused marks

TILEWRIGHT_INLINE std::size_t iter_builder::fresh_mark(std::vector<digit> parts,
                                                       std::int64_t extent, bool exact) {
  const std::size_t index = marks_.size();
  has_fused_ = true;
  for (const digit& d : parts)
    marks_[d.mark].consumed.push_back({d.lower, d.extent, index, d.scale});
  mark m;
  m.source = ir::make_var("fused", loops_.empty() ? dtype::i32 : loops_[0].first.type());
  m.extent = extent;
  m.exact = exact;
  if (!exact) {
    const ir::expr& symbolic = marks_[parts.back().mark].symbolic_extent;
    m.symbolic_extent = symbolic * ir::integer(symbolic.type(), parts.back().scale);
  }
  m.parts = std::move(parts);
  marks_.push_back(std::move(m));
  return index;
}

/// Rewrites `d`, which lies within the consumed digit `c`, as a digit of the mark that consumed it.
TILEWRIGHT_INLINE bool iter_builder::move_into(const consumption& c, digit& d) const {
  const std::int64_t relative = d.lower / c.lower;
  const mark& target = marks_[c.into];
  digit moved{c.into, c.into_lower * relative, d.extent, d.scale};
  const bool top = c.extent >= detail::ceil_divide(target.extent, c.into_lower);
  if (relative * d.extent > c.extent) {
    if (c.extent % relative != 0 && !top) return false;
    moved.extent = detail::ceil_divide(c.extent, relative);
  } else if (c.extent % (relative * d.extent) != 0 && !top) {
    return false;
  }
  moved.extent = std::min(moved.extent, std::max<std::int64_t>(extent_above(moved), 1));
  d = moved;
  return true;
}

/// One digit of `work` is moved to `done`, into the mark that consumed it, or cut where a consumed
/// digit begins or ends.
TILEWRIGHT_INLINE bool iter_builder::resolve(std::vector<digit>& work,
                                             std::vector<digit>& done) const {
  digit d = work.back();
  work.pop_back();
  d.extent = std::min(d.extent, std::max<std::int64_t>(extent_above(d), 1));
  const auto cut = [&](std::int64_t at) {  // into digits below and from `at` on
    if (at % d.lower != 0) return false;
    const std::int64_t q = at / d.lower;
    if (d.extent % q != 0 && !is_top(d)) return false;
    std::int64_t scale = 0;
    if (__builtin_mul_overflow(d.scale, q, &scale)) return false;
    work.push_back({d.mark, d.lower, q, d.scale});
    work.push_back({d.mark, at, detail::ceil_divide(d.extent, q), scale});
    return true;
  };
  if (d.extent <= 1) return true;
  const std::int64_t end = d.lower * d.extent;
  for (const consumption& c : marks_[d.mark].consumed) {
    const std::int64_t c_end = c.lower * c.extent;
    if (end <= c.lower || d.lower >= c_end) continue;
    if (d.lower < c.lower) return cut(c.lower);
    const bool c_is_top = c.extent >= detail::ceil_divide(marks_[d.mark].extent, c.lower);
    if (end > c_end && !c_is_top) return cut(c_end);
    if (d.lower % c.lower != 0 || !move_into(c, d)) return false;
    work.push_back(d);
    return true;
  }
  done.push_back(d);
  return true;
}

TILEWRIGHT_INLINE void iter_builder::sort_by_scale(std::vector<digit>& digits) {
  std::sort(digits.begin(), digits.end(), [](const digit& a, const digit& b) {
    return a.scale != b.scale ? a.scale < b.scale : a.mark < b.mark;
  });
}

/// Level by level: the digits of a mark are merged before they move on into the mark that consumed
/// it, since together they may be what was consumed. A mark is consumed by later marks only.
TILEWRIGHT_INLINE bool iter_builder::normalize(std::vector<digit>& digits) const {
  if (!has_fused_) {
    for (digit& d : digits) d.extent = std::min(d.extent, extent_above(d));
    std::erase_if(digits, [](const digit& d) { return d.extent <= 1; });
    sort_by_scale(digits);
    merge(digits);
    return true;
  }
  std::vector<digit> level, done;
  for (std::size_t m = 0; m < marks_.size() && !digits.empty(); ++m) {
    level.clear();
    std::erase_if(digits, [&](const digit& d) {
      if (d.mark == m) level.push_back(d);
      return d.mark == m;
    });
    if (level.size() > 1) merge(level);
    while (!level.empty()) {
      if (!resolve(level, done)) return false;
      // what has moved on to a later mark waits there
      while (!level.empty() && level.back().mark != m) {
        digits.push_back(level.back());
        level.pop_back();
      }
    }
  }
  sort_by_scale(done);
  digits = std::move(done);
  merge(digits);
  return true;
}

/// x % a + a * ((x // a) % b) is x % (a * b).
TILEWRIGHT_INLINE void iter_builder::merge(std::vector<digit>& digits) const {
  for (std::size_t i = 0; i < digits.size(); ++i) {
    for (std::size_t j = 0; j < digits.size(); ++j) {
      const digit &a = digits[i], &b = digits[j];
      std::int64_t scale = 0;
      if (i == j || a.mark != b.mark || b.lower != a.lower * a.extent ||
          __builtin_mul_overflow(a.scale, a.extent, &scale) || b.scale != scale)
        continue;
      digits[i].extent = std::min(a.extent * b.extent, extent_above(a));
      digits.erase(digits.begin() + static_cast<std::ptrdiff_t>(j));
      i = 0;
      j = static_cast<std::size_t>(-1);
    }
  }
}

/// A mixed-radix number: each digit is worth what all digits below it can make, plus one.
TILEWRIGHT_INLINE bool iter_builder::is_compact(const std::vector<digit>& ascending) const {
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    const digit& d = ascending[i];
    if (d.scale <= 0) return false;
    if (i + 1 == ascending.size()) break;
    std::int64_t next = 0;
    if (!marks_[d.mark].exact || __builtin_mul_overflow(d.scale, d.extent, &next) ||
        next != ascending[i + 1].scale)
      return false;
  }
  return true;
}

/// Makes one digit of a sum, fusing where there are several.
TILEWRIGHT_INLINE bool iter_builder::fuse(std::vector<digit>& digits, digit& out) {
  if (!normalize(digits) || digits.empty() || !is_compact(digits)) return false;
  if (digits.size() == 1) {
    out = digits[0];
    return true;
  }
  const std::int64_t unit = digits[0].scale;
  std::vector<digit> parts = digits;
  for (digit& d : parts) d.scale /= unit;
  const digit& top = parts.back();
  std::int64_t extent = 0;
  if (__builtin_mul_overflow(top.scale, top.extent, &extent)) return false;
  const bool exact = marks_[top.mark].exact;
  const std::size_t m = fresh_mark(std::move(parts), extent, exact);
  out = {m, 1, extent, unit};
  return true;
}

}  // namespace tilewright::arith
