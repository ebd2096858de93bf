// Bounds and affine forms of integer expressions at the point of emission.
#pragma once

#include <algorithm>

#include <tilewright/backend/llvm/emit.hpp>
#include <tilewright/impl/backend/llvm/affine_math.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::backend::llvm {
TILEWRIGHT_INLINE interval emitter::bounds(const ir::expr& e) {
  namespace m = detail::affine_math;
  const interval all = m::range_of(e.type());
  if (is_float(e.type()) || e.type() == dtype::u64) {
    if (ir::is_int(e) && e->integer >= 0) return {e->integer, e->integer};
    return {m::lowest, m::highest};
  }
  const auto kept = [&](const interval& i) { return i.within(all.lo, all.hi) ? i : all; };
  switch (e->op) {
    case ir::op::integer: return {e->integer, e->integer};
    case ir::op::var: {
      const auto found = bound.find(e.get());
      return found == bound.end() ? all : found->second.bounds;
    }
    case ir::op::add:
    case ir::op::sub:
    case ir::op::mul: return kept(m::linear(e->op, bounds(e->args[0]), bounds(e->args[1])));
    case ir::op::min: {
      const interval a = bounds(e->args[0]), c = bounds(e->args[1]);
      return {std::min(a.lo, c.lo), std::min(a.hi, c.hi)};
    }
    case ir::op::max: {
      const interval a = bounds(e->args[0]), c = bounds(e->args[1]);
      return {std::max(a.lo, c.lo), std::max(a.hi, c.hi)};
    }
    case ir::op::floordiv: {
      const interval by = bounds(e->args[1]);
      if (by.lo != by.hi || by.lo <= 0) return all;
      const interval a = bounds(e->args[0]);
      return {ir::floor_divide(a.lo, by.lo), ir::floor_divide(a.hi, by.lo)};
    }
    case ir::op::floormod: {
      const interval by = bounds(e->args[1]);
      if (by.lo <= 0) return all;
      const interval a = bounds(e->args[0]);
      return a.within(0, by.lo - 1) ? a : interval{0, by.hi - 1};
    }
    case ir::op::select:
    case ir::op::if_then_else: return m::unite(bounds(e->args[1]), bounds(e->args[2]));
    case ir::op::load: {
      const auto known = offset_bounds.find(e->buffer.get());
      return known == offset_bounds.end() ? all : known->second;
    }
    case ir::op::cast: return is_float(e->args[0].type()) ? all : kept(bounds(e->args[0]));
    case ir::op::call: return e->name == "likely" ? bounds(e->args[0]) : all;
    default: return all;
  }
}

TILEWRIGHT_INLINE std::optional<bool> emitter::decided(const ir::expr& e) {
  if (ir::is_int(e)) return e->integer != 0;
  if (e->op == ir::op::call && e->name == "likely") return decided(e->args[0]);
  if (e->op == ir::op::logical_not) {
    const auto inner = decided(e->args[0]);
    return inner ? std::optional<bool>(!*inner) : std::nullopt;
  }
  if (e->op == ir::op::logical_and || e->op == ir::op::logical_or) {
    const bool absorbing = e->op == ir::op::logical_or;
    const auto x = decided(e->args[0]), y = decided(e->args[1]);
    if ((x && *x == absorbing) || (y && *y == absorbing)) return absorbing;
    return x && y ? std::optional<bool>(!absorbing) : std::nullopt;
  }
  if (e->op < ir::op::eq || e->op > ir::op::ge) return std::nullopt;
  const dtype type = e->args[0].type();
  if (is_float(type) || type == dtype::u64) return std::nullopt;
  const interval x = bounds(e->args[0]), y = bounds(e->args[1]);
  const bool below = x.hi<y.lo, at_most = x.hi <= y.lo, above = x.lo> y.hi, at_least = x.lo >= y.hi;
  const bool same = x.lo == x.hi && y.lo == y.hi && x.lo == y.lo;
  const auto judge = [](bool yes, bool no) {
    return yes ? std::optional<bool>(true) : no ? std::optional<bool>(false) : std::nullopt;
  };
  switch (e->op) {
    case ir::op::lt: return judge(below, at_least);
    case ir::op::le: return judge(at_most, above);
    case ir::op::gt: return judge(above, at_most);
    case ir::op::ge: return judge(at_least, below);
    case ir::op::eq: return judge(same, below || above);
    default: return judge(below || above, same);
  }
}

TILEWRIGHT_INLINE affine emitter::add(affine a, const affine& x, std::int64_t scale) {
  namespace m = detail::affine_math;
  a.constant += x.constant * scale;
  a.lane_step += x.lane_step * scale;
  m::append(a.scalars, x.scalars, scale);
  m::append(a.lane_steps, x.lane_steps, scale);
  m::append(a.vectors, x.vectors, scale);
  return a;
}

TILEWRIGHT_INLINE affine emitter::multiply(const affine& a, const affine& x) {
  if (a.fixed()) return add({}, x, a.constant);
  if (x.fixed()) return add({}, a, x.constant);
  affine out;
  if (!a.uniform() && !x.uniform()) {
    out.vectors.emplace_back(b.mul_nsw(lane_sum(a), lane_sum(x)), 1);
    return out;
  }
  const affine& varying = a.uniform() ? x : a;
  const value_ref factor = scalar_sum(a.uniform() ? a : x);
  affine base;
  base.constant = varying.constant;
  base.scalars = varying.scalars;
  if (!base.fixed() || base.constant != 0) {
    if (base.fixed())
      out.scalars.emplace_back(factor, base.constant);
    else
      out.scalars.emplace_back(b.mul_nsw(scalar_sum(base), factor), 1);
  }
  if (varying.lane_step != 0) out.lane_steps.emplace_back(factor, varying.lane_step);
  for (const auto& [v, k] : varying.lane_steps)
    out.lane_steps.emplace_back(b.mul_nsw(v, factor), k);
  for (const auto& [v, k] : varying.vectors)
    out.vectors.emplace_back(b.mul_nsw(v, b.splat(factor, lane.lanes)), k);
  return out;
}

TILEWRIGHT_INLINE value_ref emitter::scalar_sum(const affine& a) {
  value_ref sum = nullptr;
  for (const auto& [v, k] : a.scalars) {
    const value_ref term = k == 1 ? v : b.mul_nsw(v, b.index(k));
    sum = sum ? b.add_nsw(sum, term) : term;
  }
  if (!sum) return b.index(a.constant);
  return a.constant == 0 ? sum : b.add_nsw(sum, b.index(a.constant));
}

TILEWRIGHT_INLINE value_ref emitter::lane_sum(const affine& a) {
  value_ref sum = b.ramp(b.i64, a.constant, a.lane_step, lane.lanes);
  const auto include = [&](value_ref term) { sum = b.add_nsw(sum, term); };
  affine uniform;
  uniform.scalars = a.scalars;
  if (!uniform.fixed()) include(b.splat(scalar_sum(uniform), lane.lanes));
  const value_ref ramp = b.ramp(b.i64, 0, 1, lane.lanes);
  for (const auto& [v, k] : a.lane_steps)
    include(b.mul_nsw(b.splat(k == 1 ? v : b.mul_nsw(v, b.index(k)), lane.lanes), ramp));
  for (const auto& [v, k] : a.vectors)
    include(k == 1 ? v : b.mul_nsw(v, b.integer(b.i64, k, lane.lanes)));
  return sum;
}

TILEWRIGHT_INLINE value emitter::integer_of(const affine& a, dtype type) {
  const type_ref element = b.held(type);
  if (a.uniform()) {
    const value_ref wide = scalar_sum(a);
    return {bits(type) < 64 ? b.convert(opcode::trunc, wide, element) : wide, false};
  }
  if (a.lane_steps.empty() && a.vectors.empty()) {
    // Narrow lanes from the start: twice as many fit a register.
    affine base = a;
    base.lane_step = 0;
    const value start = integer_of(base, type);
    return {b.binary(opcode::add, b.splat(start.v, lane.lanes),
                     b.ramp(element, 0, a.lane_step, lane.lanes)),
            true};
  }
  const value_ref wide = lane_sum(a);
  return {bits(type) < 64 ? b.convert(opcode::trunc, wide, b.held(type, lane.lanes)) : wide, true};
}

TILEWRIGHT_INLINE affine emitter::index(const ir::expr& e) {
  namespace m = detail::affine_math;
  affine out;
  if (e->op == ir::op::integer) {
    out.constant = e->integer;
    return out;
  }
  if (e->op == ir::op::var) {
    const auto found = bound.find(e.get());
    if (found != bound.end() && found->second.is != binding::kind::value) {
      const binding& known = found->second;
      if (known.is == binding::kind::form) return known.form;
      if (known.is == binding::kind::index)
        out.scalars.emplace_back(known.held.v, 1);
      else
        out.constant = known.constant;
      if (known.is == binding::kind::lane) out.lane_step = 1;
      return out;
    }
    return opaque_index(e);
  }
  if (m::is_linear(e->op)) {
    const interval exact = m::linear(e->op, bounds(e->args[0]), bounds(e->args[1]));
    const interval all = m::range_of(e.type());
    // Where the result may wrap at its width it has to be computed at that width.
    if (m::saturated(exact) || !exact.within(all.lo, all.hi) || e.type() == dtype::u64)
      return opaque_index(e);
    const affine x = index(e->args[0]), y = index(e->args[1]);
    if (e->op == ir::op::mul) return multiply(x, y);
    return add(x, y, e->op == ir::op::sub ? -1 : 1);
  }
  if (e->op == ir::op::cast && !is_float(e->args[0].type())) {
    const interval all = m::range_of(e.type()), from = bounds(e->args[0]);
    if (e.type() != dtype::boolean && from.within(all.lo, all.hi) &&
        e->args[0].type() != dtype::u64)
      return index(e->args[0]);
  }
  if (e->op == ir::op::call && e->name == "likely") return index(e->args[0]);
  if (e->op == ir::op::floordiv || e->op == ir::op::floormod) return quotient_index(e);
  if (e->op == ir::op::min || e->op == ir::op::max) {  // of which one is known to be the result
    const interval x = bounds(e->args[0]), y = bounds(e->args[1]);
    const bool least = e->op == ir::op::min;
    if (x.hi <= y.lo) return index(e->args[least ? 0 : 1]);
    if (y.hi <= x.lo) return index(e->args[least ? 1 : 0]);
  }
  return opaque_index(e);
}

TILEWRIGHT_INLINE affine emitter::opaque_index(const ir::expr& e) {
  affine out;
  const value v = emit(e);
  const int lanes = lanes_of(v.vector);
  const bool no_sign = is_unsigned(e.type()) || e.type() == dtype::boolean;
  value_ref wide = v.v;
  if (bits(e.type()) < 64)
    wide = b.convert(no_sign ? opcode::zext : opcode::sext, v.v, b.vector(b.i64, lanes));
  (v.vector ? out.vectors : out.scalars).emplace_back(wide, 1);
  if (v.vector && e->op == ir::op::load) note_indices(e, wide);
  return out;
}

/// (c * x + r) // c is x + r // c, and the same for the remainder: what is left of r is often a
/// constant, or a known function of the lane alone, as the remainder of a quotient of the lane is. A quotient is one value in all of
/// its scope, so that accesses are seen to begin at the same place: those of a transposition below loops that are one, as loops on threads are.
TILEWRIGHT_INLINE affine emitter::quotient_index(const ir::expr& e) {
  const interval by = bounds(e->args[1]);
  const bool divides = e->op == ir::op::floordiv;
  if (by.lo != by.hi || by.lo <= 0) return opaque_index(e);
  const std::int64_t c = by.lo;
  const affine x = index(e->args[0]);
  affine out, rest = x;
  rest.scalars.clear();
  const bool varies = !x.uniform();
  const std::vector<std::int64_t> distances =
      varies ? lane_distances(rest) : std::vector<std::int64_t>{};
  if (varies && distances.size() < 2) return opaque_index(e);
  for (const auto& [v, k] : x.scalars) {
    if (k % c != 0)
      rest.scalars.emplace_back(v, k);
    else if (divides)
      out.scalars.emplace_back(v, k / c);
  }
  if (!rest.scalars.empty()) {
    if (varies) return opaque_index(e);
    quotient_key key{e->op, rest.scalars, rest.constant, c};
    value_ref q = computed.quotients.find(key);
    if (!q) {
      q = divide(e->op, dtype::i64, scalar_sum(rest), b.index(c), false, c);
      computed.quotients.keep(std::move(key), q);
    }
    out.scalars.emplace_back(q, 1);
    return out;
  }
  const auto piece = [&](std::int64_t r) {
    return divides ? ir::floor_divide(r, c) : ir::floor_modulo(r, c);
  };
  out.constant = piece(rest.constant);
  if (!varies) return out;
  std::vector<std::int64_t> lanes;
  for (const std::int64_t distance : distances) lanes.push_back(piece(rest.constant + distance));
  const std::int64_t step = lanes[1] - lanes[0];
  bool even = true;
  for (std::size_t i = 1; i < lanes.size(); ++i) even = even && lanes[i] - lanes[i - 1] == step;
  if (even) {
    out.lane_step = step;
    return out;
  }
  out.constant = 0;
  const value_ref numbers = b.integers(b.i64, lanes);
  lane_numbers_.emplace(numbers, std::move(lanes));
  out.vectors.emplace_back(numbers, 1);
  return out;
}

}  // namespace tilewright::backend::llvm
