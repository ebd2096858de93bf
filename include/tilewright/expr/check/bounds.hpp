// Ranges of axes and intervals of index expressions.
//
// One constexpr implementation serves the compiler, where only static extents are known, and reify,
// where all are. Sums are kept affine in the axes, so that i - i + 3 is 3.
#pragma once

#include <cstdint>
#include <string_view>

#include <tilewright/expr/node.hpp>

namespace tilewright::dsl {

/// Extents of named dimensions as far as they are known.
struct dim_table {
  struct entry {
    std::string_view name;
    std::int64_t extent = 0;
  };
  const entry* entries = nullptr;
  int count = 0;

  /// -1 when it is not known.
  constexpr std::int64_t find(std::string_view name) const {
    for (int k = 0; k < count; ++k)
      if (entries[k].name == name) return entries[k].extent;
    return -1;
  }
  constexpr std::int64_t find(const dim_info& dim) const {
    return dim.name.empty() ? dim.extent : find(dim.name);
  }
};

/// An axis in scope: it runs over [0, extent); -1 when the extent is not known.
struct axis_range {
  std::string_view name;
  std::int64_t extent = -1;
  dim_info dim;             // what the extent was taken from
  std::string_view origin;  // tensor that it was taken from; empty: the axis brings it
};

/// Axes in scope, outer first.
struct axis_scope {
  static constexpr int capacity = 24;
  axis_range axes[capacity];
  int count = 0;

  constexpr int find(std::string_view name) const {
    for (int k = 0; k < count; ++k)
      if (axes[k].name == name) return k;
    return -1;
  }
};

/// Inclusive; not known: any value.
struct index_interval {
  bool known = false;
  std::int64_t lo = 0;
  std::int64_t hi = 0;
};

namespace detail {

/// Sum of coefficient * axis, plus an interval.
struct affine_index {
  std::int64_t coefficient[axis_scope::capacity]{};
  index_interval rest{true, 0, 0};

  constexpr bool is_constant() const {
    for (std::int64_t c : coefficient)
      if (c != 0) return false;
    return rest.known && rest.lo == rest.hi;
  }
};

/// Coefficients and bounds stay below this in size; beyond it a value counts as unknown.
inline constexpr std::int64_t bounds_limit = std::int64_t{1} << 40;

constexpr bool within_limit(std::int64_t v) { return v > -bounds_limit && v < bounds_limit; }

/// a * b, or `bounds_limit` when that or an operand is beyond the limit.
constexpr std::int64_t limited_product(std::int64_t a, std::int64_t b) {
  if (a == 0 || b == 0) return 0;
  if (!within_limit(a) || !within_limit(b)) return bounds_limit;
  const std::int64_t size = (a < 0 ? -a : a), most = bounds_limit / size;
  return b > most || b < -most ? bounds_limit : a * b;
}

constexpr std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  const std::int64_t q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

constexpr index_interval interval_of(const affine_index& a, const axis_scope& scope) {
  index_interval out = a.rest;
  for (int k = 0; k < scope.count && out.known; ++k) {
    const std::int64_t c = a.coefficient[k];
    if (c == 0) continue;
    if (scope.axes[k].extent < 0) {
      out.known = false;
    } else {
      const std::int64_t last = limited_product(c, scope.axes[k].extent - 1);
      (last < 0 ? out.lo : out.hi) += last;
      out.known = within_limit(last) && within_limit(out.lo) && within_limit(out.hi);
    }
  }
  return out;
}

constexpr affine_index of_interval(const index_interval& i) {
  affine_index out;
  out.rest = i;
  return out;
}

constexpr index_interval unite(const index_interval& a, const index_interval& b) {
  return {a.known && b.known, a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
}

/// Forgets an index whose coefficients or bounds are beyond the limit, so that none overflows.
constexpr affine_index limited(const affine_index& a) {
  bool fine = within_limit(a.rest.lo) && within_limit(a.rest.hi);
  for (std::int64_t c : a.coefficient) fine = fine && within_limit(c);
  if (fine) return a;
  affine_index out;
  out.rest.known = false;
  return out;
}

constexpr affine_index scaled(affine_index a, std::int64_t factor) {
  for (std::int64_t& c : a.coefficient) c = limited_product(c, factor);
  const std::int64_t lo = limited_product(a.rest.lo, factor);
  const std::int64_t hi = limited_product(a.rest.hi, factor);
  a.rest.lo = lo < hi ? lo : hi;
  a.rest.hi = lo < hi ? hi : lo;
  return a;
}

constexpr affine_index added(affine_index a, const affine_index& b) {
  for (int k = 0; k < axis_scope::capacity; ++k) a.coefficient[k] += b.coefficient[k];
  a.rest = {a.rest.known && b.rest.known, a.rest.lo + b.rest.lo, a.rest.hi + b.rest.hi};
  return a;
}

/// Interval of an operator that is not affine.
constexpr index_interval opaque_interval(ir::op op, const index_interval& a,
                                         const index_interval& b) {
  const index_interval any{};
  switch (op) {
    case ir::op::mul: {
      if (!a.known || !b.known) return any;
      const std::int64_t p[4] = {limited_product(a.lo, b.lo), limited_product(a.lo, b.hi),
                                 limited_product(a.hi, b.lo), limited_product(a.hi, b.hi)};
      index_interval out{true, p[0], p[0]};
      for (std::int64_t v : p) out = {true, v < out.lo ? v : out.lo, v > out.hi ? v : out.hi};
      return out;
    }
    case ir::op::floordiv:
      if (!a.known || !b.known || b.lo != b.hi || b.lo <= 0) return any;
      return {true, floor_quotient(a.lo, b.lo), floor_quotient(a.hi, b.lo)};
    case ir::op::floormod: {
      if (!b.known || b.lo != b.hi || b.lo <= 0) return any;
      const std::int64_t q = a.known ? floor_quotient(a.lo, b.lo) : 0;
      if (a.known && q == floor_quotient(a.hi, b.lo))
        return {true, a.lo - q * b.lo, a.hi - q * b.lo};
      return {true, 0, b.lo - 1};
    }
    case ir::op::min:
      if (!a.known || !b.known) return any;
      return {true, a.lo < b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi};
    case ir::op::max:
      if (!a.known || !b.known) return any;
      return {true, a.lo > b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
    default: return any;
  }
}

constexpr affine_index affine_of(const node* nodes, int at, const axis_scope& scope,
                                 const dim_table& dims) {
  const node& n = nodes[at];
  affine_index out;
  out.rest.known = false;
  if (n.kind == node_kind::axis) {
    const int k = scope.find(n.name);
    if (k >= 0) {
      out.coefficient[k] = 1;
      out.rest.known = true;
    }
    return out;
  }
  if (n.kind == node_kind::extent) {
    const std::int64_t extent = dims.find(n.name);
    return extent < 0 ? out : of_interval({true, extent, extent});
  }
  if (n.kind != node_kind::operation) return out;
  if (n.op == ir::op::integer) return limited(of_interval({true, n.integer, n.integer}));
  const children child = children_of(nodes, at);
  if (n.op == ir::op::cast) return affine_of(nodes, child.at[0], scope, dims);
  if (n.op == ir::op::select)
    return of_interval(unite(interval_of(affine_of(nodes, child.at[1], scope, dims), scope),
                             interval_of(affine_of(nodes, child.at[2], scope, dims), scope)));
  if (child.count != 2) return out;
  const affine_index a = affine_of(nodes, child.at[0], scope, dims);
  const affine_index b = affine_of(nodes, child.at[1], scope, dims);
  if (n.op == ir::op::add) return limited(added(a, b));
  if (n.op == ir::op::sub) return limited(added(a, scaled(b, -1)));
  if (n.op == ir::op::mul && b.is_constant()) return limited(scaled(a, b.rest.lo));
  if (n.op == ir::op::mul && a.is_constant()) return limited(scaled(b, a.rest.lo));
  return of_interval(opaque_interval(n.op, interval_of(a, scope), interval_of(b, scope)));
}

}  // namespace detail

/// The values that the index expression at `at` takes while the axes run over their ranges; may be
/// wider where it is not affine.
constexpr index_interval interval_of(const node* nodes, int at, const axis_scope& scope,
                                     const dim_table& dims) {
  return detail::interval_of(detail::affine_of(nodes, at, scope, dims), scope);
}

enum class truth : std::uint8_t { no, yes, unknown };

/// Value of a condition on extents, as far as they are known.
constexpr truth decide(const node* nodes, int at, const dim_table& dims) {
  const node& n = nodes[at];
  const children child = children_of(nodes, at);
  const auto of = [](bool b) { return b ? truth::yes : truth::no; };
  if (n.kind != node_kind::operation) return truth::unknown;
  if (n.op == ir::op::integer) return of(n.integer != 0);
  if (n.op == ir::op::logical_and || n.op == ir::op::logical_or) {
    const truth a = decide(nodes, child.at[0], dims), b = decide(nodes, child.at[1], dims);
    const truth decisive = n.op == ir::op::logical_or ? truth::yes : truth::no;
    if (a == decisive || b == decisive) return decisive;
    return a == truth::unknown ? a : b;
  }
  if (n.op == ir::op::logical_not) {
    const truth a = decide(nodes, child.at[0], dims);
    return a == truth::unknown ? a : of(a == truth::no);
  }
  if (child.count != 2) return truth::unknown;
  const index_interval a = interval_of(nodes, child.at[0], {}, dims);
  const index_interval b = interval_of(nodes, child.at[1], {}, dims);
  if (!a.known || !b.known || a.lo != a.hi || b.lo != b.hi) return truth::unknown;
  switch (n.op) {
    case ir::op::eq: return of(a.lo == b.lo);
    case ir::op::ne: return of(a.lo != b.lo);
    case ir::op::lt: return of(a.lo < b.lo);
    case ir::op::le: return of(a.lo <= b.lo);
    case ir::op::gt: return of(a.lo > b.lo);
    case ir::op::ge: return of(a.lo >= b.lo);
    default: return truth::unknown;
  }
}

}  // namespace tilewright::dsl
