#pragma once

#include <algorithm>

#include <tilewright/arith/iter_builder.hpp>
#include <tilewright/arith/linear.hpp>
#include <tilewright/support/find.hpp>

namespace tilewright::arith {

/// f >= 0 as an upper limit of a fused sum.
TILEWRIGHT_INLINE bool iter_builder::limit(const form& f) {
  form running, fixed;
  fixed.constant = f.constant;
  for (const summand& s : f.terms) {
    if (uses_loops(s.term()))
      add_term(running, s.term(), -s.coefficient);
    else
      add_term(fixed, s.term(), s.coefficient);
  }
  if (running.terms.empty()) return true;  // constant while the loops run
  digit_sum sum;
  if (!parse_form(running, sum) || !normalize(sum.digits)) return false;
  add(fixed, sum.base, -1);  // sum of digits <= fixed
  form spare = fixed;
  bool rising = true;
  for (const digit& d : sum.digits) {
    std::int64_t most = 0;
    if (__builtin_mul_overflow(d.scale, d.extent - 1, &most)) return false;
    add_constant(spare, -std::max<std::int64_t>(most, 0));
    rising = rising && d.scale > 0;
  }
  if (solver_.nonnegative(spare)) return true;  // no limit within these extents
  if (!rising) return false;
  digit whole;
  if (!fuse(sum.digits, whole)) return false;
  mark* m = &marks_[whole.mark];
  const std::int64_t unit = whole.scale;
  if (!fixed.is_constant()) {
    if (whole.lower != 1 || whole.extent < m->extent || !m->consumed.empty()) return false;
    const dtype type = m->source.type();
    form count = solver_.divide(fixed, unit, type);
    add_constant(count, 1);
    const ir::expr before = m->exact ? ir::integer(type, m->extent) : m->symbolic_extent;
    m->exact = false;
    m->symbolic_extent = ir::min(before, expression(count, type));
    return true;
  }
  if (fixed.constant < 0) return false;
  const std::int64_t extent = fixed.constant / unit + 1;
  if (extent >= whole.extent) return m->exact;
  if (!m->exact) return false;
  if (!is_top(whole) || !m->consumed.empty()) {
    whole.scale = 1;
    fresh_mark({whole}, extent, true);
    return true;
  }
  m->extent = std::min(m->extent, whole.lower * extent);
  return true;
}

TILEWRIGHT_INLINE bool iter_builder::restrict_by_assumptions() {
  const std::size_t before = outside_.facts().size(), truths = outside_.truths().size();
  for (std::size_t i = truths; i < known_.truths().size(); ++i)
    if (uses_loops(known_.truths()[i])) return false;
  // a limit of a single variable is in its bounds, and so in the extent of the mark; not so where
  // the extent is symbolic
  for (const mark& m : marks_)
    if (!m.exact && known_.const_bounds(m.source) != outside_.const_bounds(m.source)) return false;
  // inner sums first, so that outer ones find them fused
  std::vector<const form*> limits;
  for (std::size_t i = before; i < known_.facts().size(); ++i)
    limits.push_back(&known_.facts()[i]->nonnegative);
  std::sort(limits.begin(), limits.end(), [&](const form* a, const form* b) {
    return a->terms.size() != b->terms.size() ? a->terms.size() < b->terms.size()
                                              : a->constant < b->constant;
  });
  for (const form* f : limits)
    if (!limit(*f)) return false;
  return true;
}

TILEWRIGHT_INLINE bool iter_builder::add_index(const ir::expr& index) {
  indices_.emplace_back();
  indices_.back().type = index.type();
  return parse(index, indices_.back());
}

/// The digits in use must be independent: each above the ones below it, and all combinations must
/// occur.
TILEWRIGHT_INLINE bool iter_builder::check_mark(std::size_t index, const digit* begin,
                                                const digit* end, iter_map_level level) const {
  const mark& m = marks_[index];
  const bool bijective = level == iter_map_level::bijective;
  if (m.extent < 1) return false;
  if (m.extent == 1 && m.exact) return true;
  if (begin == end) return !bijective;
  if (!m.exact) return end - begin == 1 && begin->lower == 1 && begin->extent >= m.extent;
  for (const digit* d = begin; d + 1 != end; ++d) {
    const std::int64_t above = d->lower * d->extent;
    if (d[1].lower % above != 0 || (bijective && d[1].lower != above)) return false;
  }
  const digit& top = end[-1];
  if (bijective && (begin->lower != 1 || top.lower * top.extent != m.extent)) return false;
  if (top.lower * top.extent <= m.extent || end - begin == 1) return true;
  const std::int64_t last_block = m.extent - top.lower * (top.extent - 1);
  return end[-2].lower * end[-2].extent <= last_block;
}

TILEWRIGHT_INLINE std::optional<iter_map_level> iter_builder::check() {
  std::vector<digit> used;
  used.reserve(2 * marks_.size());
  for (digit_sum& index : indices_) {
    if (!normalize(index.digits) || !is_compact(index.digits)) return std::nullopt;
    used.insert(used.end(), index.digits.begin(), index.digits.end());
  }
  for (const mark& m : marks_)
    for (digit part : m.parts) {
      part.extent = std::min(part.extent, extent_above(part));
      used.push_back(part);
    }
  std::sort(used.begin(), used.end(), [](const digit& a, const digit& b) {
    return a.mark != b.mark ? a.mark < b.mark : a.lower < b.lower;
  });
  bool bijective = true;
  const digit* begin = used.data();
  for (std::size_t m = 0; m < marks_.size(); ++m) {
    const digit* end = begin;
    while (end != used.data() + used.size() && end->mark == m) ++end;
    bijective = bijective && check_mark(m, begin, end, iter_map_level::bijective);
    if (!bijective && !check_mark(m, begin, end, iter_map_level::surjective)) return std::nullopt;
    begin = end;
  }
  return bijective ? iter_map_level::bijective : iter_map_level::surjective;
}

TILEWRIGHT_INLINE ir::expr iter_builder::extent_of(const digit& d, dtype type) const {
  const ir::expr& symbolic = marks_[d.mark].symbolic_extent;
  return symbolic ? ir::cast(type, symbolic) : ir::integer(type, d.extent);
}

TILEWRIGHT_INLINE iter_map iter_builder::result(iter_map_level reached) const {
  iter_map out;
  out.bijective = reached == iter_map_level::bijective;
  out.loops = loops_;
  for (std::size_t m = 0; m < loops_.size(); ++m) {
    ir::range& r = out.loops[m].second;
    r.min = minimums_[m];
    if (marks_[m].exact) r.extent = ir::integer(loops_[m].first.type(), marks_[m].extent);
  }
  out.padding_predicate = ir::boolean(false);
  const auto to_split = [&](const digit& d) {
    const mark& m = marks_[d.mark];
    return iter_split{m.source, d.lower, d.extent, d.scale, m.symbolic_extent};
  };
  const auto to_sum = [&](const std::vector<digit>& ascending) {
    iter_sum sum;
    sum.splits.reserve(ascending.size());
    for (auto d = ascending.rbegin(); d != ascending.rend(); ++d)
      sum.splits.push_back(to_split(*d));
    return sum;
  };
  for (const digit_sum& index : indices_) {
    out.indices.push_back(to_sum(index.digits));
    out.indices.back().base = expression(index.base, index.type);
  }
  for (std::size_t m = loops_.size(); m < marks_.size(); ++m) {
    out.fused.push_back({marks_[m].source, to_sum(marks_[m].parts), marks_[m].extent});
    out.fused.back().value.base = ir::integer(marks_[m].source.type(), 0);
  }
  return out;
}

namespace detail {

/// Runs `f` with a builder that has read everything; `otherwise` when something could not be read.
template <class Result, class F>
Result with_iter_builder(const std::vector<ir::expr>& indices, const loop_domains& loops,
                         const ir::expr& predicate, const analyzer& known, Result otherwise, F f) {
  analyzer bound, assumed;
  const analyzer* outside = &known;
  if (!known.knows(loops)) {
    bound = known;
    bound.bind_new(loops);
    outside = &bound;
  }
  const analyzer* inside = outside;
  if (ir::is_int(predicate, 0)) return otherwise;
  if (!ir::is_int(predicate)) {
    assumed = *outside;
    assumed.assume(predicate);
    inside = &assumed;
  }
  iter_builder builder(loops, *outside, *inside);
  if (!builder.restrict_by_assumptions()) return otherwise;
  for (const ir::expr& index : indices)
    if (!builder.add_index(index)) return otherwise;
  return f(builder);
}

}  // namespace detail

TILEWRIGHT_INLINE std::optional<iter_map> detect_iter_map(const std::vector<ir::expr>& indices,
                                                          const loop_domains& loops,
                                                          const ir::expr& predicate,
                                                          iter_map_level level,
                                                          const analyzer& known) {
  return detail::with_iter_builder(indices, loops, predicate, known, std::optional<iter_map>(),
                                   [&](iter_builder& builder) -> std::optional<iter_map> {
                                     const std::optional<iter_map_level> reached = builder.check();
                                     if (!reached || *reached < level) return std::nullopt;
                                     return builder.result(*reached);
                                   });
}

namespace detail {

/// The digit of `sum` at `i`, read from the value of the whole sum; splits fall in scale.
inline ir::expr read_digit(const iter_sum& sum, std::size_t i, const ir::expr& value) {
  const iter_split& s = sum.splits[i];
  const dtype type = value.type();
  const ir::expr above = ir::floordiv(value, ir::integer(type, s.scale));
  return i == 0 ? above : ir::floormod(above, ir::integer(type, s.extent));
}

}  // namespace detail

TILEWRIGHT_INLINE std::optional<ir::var_map> inverse_affine(const iter_map& map,
                                                            const std::vector<ir::expr>& outputs) {
  if (!map.bijective || outputs.size() != map.indices.size()) return std::nullopt;
  ir::var_map sources;
  const auto distribute = [&](const iter_sum& sum, const ir::expr& value) {
    for (std::size_t i = 0; i < sum.splits.size(); ++i) {
      const iter_split& s = sum.splits[i];
      const ir::expr part =
          detail::read_digit(sum, i, value) * ir::integer(value.type(), s.lower_factor);
      ir::expr& whole = sources[s.source];
      whole = whole ? whole + part : part;
    }
  };
  for (std::size_t i = 0; i < outputs.size(); ++i)
    distribute(map.indices[i], outputs[i] - ir::cast(outputs[i].type(), map.indices[i].base));
  for (auto f = map.fused.rbegin(); f != map.fused.rend(); ++f) {
    const auto found = sources.find(f->var);
    if (found == sources.end() && f->extent != 1) return std::nullopt;
    const ir::expr value = found == sources.end() ? f->value.base : found->second;
    if (found != sources.end()) sources.erase(found);
    distribute(f->value, value);
  }
  ir::var_map out;
  for (const auto& [v, r] : map.loops) {
    const auto found = sources.find(v);
    if (found == sources.end() && !ir::is_int(r.extent, 1)) return std::nullopt;
    const ir::expr value = found == sources.end() ? r.min : found->second + r.min;
    out[v] = simplify(ir::cast(v.type(), value));
  }
  return out;
}

namespace detail {

/// Distinct whole loops in some order: the usual case, decided without an analysis.
inline bool is_trivial_binding(const std::vector<ir::expr>& values,
                               const std::vector<ir::iter_var>& iters, const loop_domains& loops) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!ir::is_var(values[i])) return false;
    for (std::size_t j = 0; j < i; ++j)
      if (values[i].same(values[j])) return false;
    const auto loop =
        support::find(loops, [&](const auto& each) { return each.first.same(values[i]); });
    if (loop == loops.end()) return false;
    const ir::range &runs = loop->second, &dom = iters[i].dom;
    if (iters[i].kind == ir::iter_kind::reduce &&
        (!same_value(runs.min, dom.min) || !same_value(runs.extent, dom.extent)))
      return false;
  }
  return true;
}

/// Whether a sum runs over exactly the domain; taken as true where an outer variable moves it.
inline bool fills_domain(const iter_builder& builder, const digit_sum& sum, const ir::range& dom,
                         const analyzer& known) {
  if (!sum.base.is_constant()) return true;
  const dtype type = dom.extent.type();
  std::int64_t count = 1;
  bool constant = ir::is_int(dom.min) && ir::is_int(dom.extent);
  for (const digit& d : sum.digits) {
    std::int64_t reach = 0;
    constant = constant && !builder.is_symbolic(d) &&
               !__builtin_mul_overflow(d.extent - 1, d.scale, &reach) &&
               !__builtin_add_overflow(count, reach, &count);
  }
  if (constant) return sum.base.constant == dom.min->integer && count == dom.extent->integer;
  if (!known.prove_equal(ir::integer(type, sum.base.constant), dom.min)) return false;
  ir::expr extent = ir::integer(type, 1);
  for (const digit& d : sum.digits)
    extent =
        extent + (builder.extent_of(d, type) - ir::integer(type, 1)) * ir::integer(type, d.scale);
  return known.prove_equal(extent, dom.extent);
}

}  // namespace detail

TILEWRIGHT_INLINE bool is_affine_binding(const std::vector<ir::expr>& values,
                                         const std::vector<ir::iter_var>& iters,
                                         const loop_domains& loops, const ir::expr& predicate,
                                         const analyzer& known) {
  if (ir::is_int(predicate, 1) && detail::is_trivial_binding(values, iters, loops)) return true;
  const auto check = [&](iter_builder& builder) {
    if (!builder.check()) return false;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const digit_sum& sum = builder.index(i);
      if (!sum.digits.empty() && sum.digits[0].scale != 1) return false;
      if (iters[i].kind == ir::iter_kind::reduce &&
          !detail::fills_domain(builder, sum, iters[i].dom, known))
        return false;
    }
    return true;
  };
  return detail::with_iter_builder(values, loops, predicate, known, false, check);
}

}  // namespace tilewright::arith
