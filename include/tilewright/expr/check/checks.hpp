// Checks of a kernel as a whole: constexpr functions on its nodes.
//
// They return a finding; kernel.hpp turns it into a compile-time error that names the offender, or,
// for a lambda with captures, and for extents known at the call only, into an argument_error.
#pragma once

#include <string_view>

#include <tilewright/expr/check/finding.hpp>
#include <tilewright/expr/check/sparse_checks.hpp>

namespace tilewright::dsl {

namespace detail {

constexpr bool is_axis_node(const node& n, std::string_view name) {
  return n.kind == node_kind::axis && n.name == name;
}

constexpr bool is_access(const node& n) {
  return n.kind == node_kind::load || n.kind == node_kind::store;
}

/// How many definitions write `tensor`.
constexpr int definitions_of(const program_view& p, const tensor_info* tensor) {
  int out = 0;
  for (int k = 0; k < p.count; ++k)
    if (p.nodes[k].kind == node_kind::store && p.nodes[k].tensor == tensor) ++out;
  return out;
}

/// Where an axis takes its extent from; lower ranks win.
enum class source : std::uint8_t { axis_itself, store, read, shared_store, bordered_read, none };

constexpr source source_of(const program_view& p, const node& access) {
  if (access.kind == node_kind::store)
    return definitions_of(p, access.tensor) > 1 ? source::shared_store : source::store;
  return access.edge == border::none ? source::read : source::bordered_read;
}

/// Range of axis `name` from its plain occurrences in the subtree of `at`.
///
/// The axis' own extent wins, then the dimension that it indexes on the left, then one that it
/// indexes in a read. A tensor written by several definitions does not bind: they may write parts
/// of it.
constexpr axis_range range_of(const program_view& p, std::string_view name, int at,
                              finding& problem) {
  axis_range best;
  best.name = name;
  source rank = source::none;
  for (int k = at - p.nodes[at].size + 1; k <= at; ++k) {
    if (is_axis_node(p.nodes[k], name) &&
        (p.nodes[k].dim.extent != 0 || !p.nodes[k].dim.name.empty())) {
      best.dim = p.nodes[k].dim;
      best.extent = p.dims.find(best.dim);
      return best;
    }
  }
  for (int k = at - p.nodes[at].size + 1; k <= at; ++k) {
    if (!is_access(p.nodes[k])) continue;
    const children index = children_of(p.nodes, k);
    const source here = source_of(p, p.nodes[k]);
    for (int d = 0; d < index.count; ++d) {
      if (!is_axis_node(p.nodes[index.at[d]], name)) continue;
      const dim_info& dim = p.nodes[k].tensor->dims[d];
      const std::int64_t extent = p.dims.find(dim);
      const bool binds = here == source::store || here == source::read;
      const bool bound = rank == source::store || rank == source::read;
      if (binds && bound && extent >= 0 && best.extent >= 0 && extent != best.extent &&
          problem.ok()) {
        problem.what = fault::extents_differ;
        problem.subject = name;
        problem.first = best.origin;
        problem.second = p.nodes[k].tensor->name;
        problem.a = best.extent;
        problem.b = extent;
      }
      const bool tells_more = best.extent < 0 && extent >= 0 && binds && bound;
      if (here < rank || tells_more) {
        best.dim = dim;
        best.extent = extent;
        best.origin = p.nodes[k].tensor->name;
        if (here < rank) rank = here;
      }
    }
  }
  if (rank == source::none && problem.ok()) {
    problem.what = fault::no_extent;
    problem.subject = name;
  }
  return best;
}

constexpr void push_axis(axis_scope& scope, const axis_range& range, finding& problem) {
  if (scope.count == axis_scope::capacity) {
    if (problem.ok()) problem.what = fault::too_many_axes;
    return;
  }
  scope.axes[scope.count++] = range;
}

}  // namespace detail

/// Axes on the left of the definition at `at`, in order of occurrence, with their ranges.
constexpr axis_scope left_axes(const program_view& p, int at, finding& problem) {
  axis_scope scope;
  const children part = children_of(p.nodes, at);
  for (int t = 0; t + 1 < part.count; ++t) {
    const int store = part.at[t];
    for (int k = store - p.nodes[store].size + 1; k < store; ++k)
      if (p.nodes[k].kind == node_kind::axis && scope.find(p.nodes[k].name) < 0)
        detail::push_axis(scope, detail::range_of(p, p.nodes[k].name, at, problem), problem);
  }
  return scope;
}

/// `outer` and the axes of the reduction at `at`.
constexpr axis_scope reduced_axes(const program_view& p, int at, axis_scope outer,
                                  finding& problem) {
  const children part = children_of(p.nodes, at);
  for (int k = 0; k < p.nodes[at].axes; ++k)
    detail::push_axis(outer, detail::range_of(p, p.nodes[part.at[k]].name, at, problem), problem);
  return outer;
}

namespace detail {

/// Walks one definition with its scopes.
struct definition_checker {
  const program_view& p;
  finding& problem;
  std::string_view target;
  int left = 0;  // axes on the left

  constexpr void report(fault what, std::string_view subject, std::string_view first = {}) const {
    if (!problem.ok()) return;
    problem.what = what;
    problem.subject = subject;
    problem.first = first;
  }

  /// A gather: where it reads is up to the caller.
  constexpr bool depends_on_data(int at) const {
    return any_below(p.nodes, at, [&](int k) {
      return p.nodes[k].kind == node_kind::load || p.nodes[k].kind == node_kind::reduce;
    });
  }

  constexpr void divisor_is_not_zero(int at, const axis_scope& scope) const {
    const index_interval divisor = interval_of(p.nodes, at - 1, scope, p.dims);
    if (!problem.ok() || !divisor.known || divisor.lo > 0 || divisor.hi < 0) return;
    report(fault::divides_by_zero, target);
    problem.at = at;
  }

  constexpr void access_in_bounds(int at, const axis_scope& scope) const {
    const node& n = p.nodes[at];
    if (n.edge != border::none) return;
    const children index = children_of(p.nodes, at);
    for (int d = 0; d < index.count; ++d) {
      const std::int64_t extent = p.dims.find(n.tensor->dims[d]);
      const index_interval i = interval_of(p.nodes, index.at[d], scope, p.dims);
      if (p.complete && !i.known && !depends_on_data(index.at[d]) && problem.ok()) {
        report(fault::not_bounded, n.tensor->name, target);
        problem.a = d;
        problem.at = at;
        problem.scope = scope;
      }
      if (extent < 0 || !i.known || (i.lo >= 0 && i.hi < extent) || !problem.ok()) continue;
      report(fault::out_of_bounds, n.tensor->name, target);
      problem.a = d;
      problem.b = extent;
      problem.low = i.lo;
      problem.high = i.hi;
      problem.at = at;
      problem.scope = scope;
    }
  }

  constexpr void enter_reduction(int at, const axis_scope& scope) const {
    const node& n = p.nodes[at];
    const children part = children_of(p.nodes, at);
    for (int k = 0; k < n.axes; ++k) {
      const std::string_view axis = p.nodes[part.at[k]].name;
      const int found = scope.find(axis);
      if (found >= 0)
        report(found < left ? fault::reduced_and_left : fault::reduced_twice, axis, target);
      for (int other = 0; other < k; ++other)
        if (p.nodes[part.at[other]].name == axis) report(fault::reduced_twice, axis, target);
      bool used = false;
      for (int v = n.axes; v < n.axes + n.width && v < part.count; ++v)
        used = used || any_below(p.nodes, part.at[v],
                                 [&](int x) { return is_axis_node(p.nodes[x], axis); });
      if (!used) report(fault::reduced_axis_unused, axis, target);
    }
    if (!problem.ok()) return;
    const axis_scope inner = reduced_axes(p, at, scope, problem);
    for (int k = n.axes; k < part.count; ++k) walk(part.at[k], inner);
  }

  constexpr void walk(int at, const axis_scope& scope) const {
    const node& n = p.nodes[at];
    if (n.kind == node_kind::axis && scope.find(n.name) < 0)
      report(fault::unbound_axis, n.name, target);
    if (n.kind == node_kind::reduce) return enter_reduction(at, scope);
    if (is_access(n)) access_in_bounds(at, scope);
    if (n.kind == node_kind::operation && (n.op == ir::op::floordiv || n.op == ir::op::floormod))
      divisor_is_not_zero(at, scope);
    int child = at - 1;
    for (int k = 0; k < n.arity; ++k) {
      walk(child, scope);
      child -= p.nodes[child].size;
    }
  }
};

constexpr bool is_parameter(const program_view& p, const tensor_info* tensor) {
  for (int k = 0; k < p.param_count; ++k)
    if (p.params[k] == tensor) return true;
  return false;
}

constexpr void check_names(const program_view& p, finding& problem) {
  const auto report = [&](fault what, std::string_view subject, std::string_view first = {}) {
    if (!problem.ok()) return;
    problem.what = what;
    problem.subject = subject;
    problem.first = first;
  };
  const auto known_dim = [&](std::string_view name) {
    for (int k = 0; k < p.param_count; ++k)
      for (int d = 0; d < p.params[k]->rank; ++d)
        if (p.params[k]->dims[d].name == name) return true;
    return false;
  };
  for (int k = 0; k < p.param_count; ++k)
    for (int other = 0; other < k; ++other)
      if (p.params[k]->name == p.params[other]->name)
        report(fault::name_used_twice, p.params[k]->name);
  for (int k = 0; k < p.count; ++k) {
    const node& n = p.nodes[k];
    const bool named_dim = !n.dim.name.empty();
    if ((n.kind == node_kind::extent && !known_dim(n.name)))
      report(fault::unknown_dimension, n.name);
    if (named_dim && !known_dim(n.dim.name)) report(fault::unknown_dimension, n.dim.name, n.name);
    if (!n.tensor) continue;
    if (n.tensor->role != role::temp) {
      if (!is_parameter(p, n.tensor)) report(fault::not_a_parameter, n.tensor->name);
      continue;
    }
    for (int d = 0; d < n.tensor->rank; ++d)
      if (!n.tensor->dims[d].name.empty() && !known_dim(n.tensor->dims[d].name))
        report(fault::unknown_dimension, n.tensor->dims[d].name, n.tensor->name);
    for (int q = 0; q < p.param_count; ++q)
      if (p.params[q]->name == n.tensor->name) report(fault::name_used_twice, n.tensor->name);
    for (int other = 0; other < k; ++other)
      if (p.nodes[other].tensor && p.nodes[other].tensor != n.tensor &&
          p.nodes[other].tensor->name == n.tensor->name)
        report(fault::name_used_twice, n.tensor->name);
  }
}

/// Definitions come before reads; a definition reads its own target only where it writes.
constexpr void check_order(const program_view& p, finding& problem) {
  const auto report = [&](fault what, std::string_view subject) {
    if (!problem.ok()) return;
    problem.what = what;
    problem.subject = subject;
  };
  const auto defined_before = [&](const tensor_info* tensor, int at) {
    for (int k = 0; k < at; ++k)
      if (p.nodes[k].kind == node_kind::define) {
        const children part = children_of(p.nodes, k);
        for (int t = 0; t + 1 < part.count; ++t)
          if (p.nodes[part.at[t]].tensor == tensor) return true;
      }
    return false;
  };
  for_each_definition(p.nodes, p.count, [&](int at) {
    const children part = children_of(p.nodes, at);
    const int first = at - p.nodes[at].size + 1;
    for (int k = first; k < at; ++k) {
      const node& n = p.nodes[k];
      if (n.kind != node_kind::load) continue;
      for (int t = 0; t + 1 < part.count; ++t) {
        const int store = part.at[t];
        if (p.nodes[store].tensor != n.tensor) continue;
        bool same = p.nodes[store].size == n.size && n.edge == border::none;
        for (int q = 1; same && q < n.size; ++q)
          same = same_node(p.nodes[store - q], p.nodes[k - q]);
        if (!same) report(fault::reads_target_elsewhere, n.tensor->name);
      }
      const bool needs = n.tensor->role == role::temp || n.tensor->role == role::out;
      if (needs && !defined_before(n.tensor, first))
        report(fault::read_before_definition, n.tensor->name);
    }
    for (int t = 0; t + 1 < part.count; ++t)
      if (any_below(p.nodes, part.at[t], [&](int k) {
            const node& n = p.nodes[k];
            return n.kind == node_kind::load || n.kind == node_kind::reduce ||
                   (n.kind == node_kind::operation &&
                    (n.op == ir::op::floordiv || n.op == ir::op::floormod));
          }))
        report(fault::indirect_store, p.nodes[part.at[t]].tensor->name);
  });
  for (int k = 0; k < p.param_count; ++k) {
    const role r = p.params[k]->role;
    if ((r == role::out || r == role::inout) && definitions_of(p, p.params[k]) == 0)
      report(fault::never_defined, p.params[k]->name);
  }
}

}  // namespace detail

namespace detail {

constexpr void check_expectations(const program_view& p, finding& problem) {
  for (int k = 0; k < p.count; ++k) {
    if (p.nodes[k].kind != node_kind::expect || !problem.ok()) continue;
    if (decide(p.nodes, k - 1, p.dims) != truth::no) continue;
    problem.what = fault::expectation;
    problem.at = k - 1;
    for (int x = k; x > k - p.nodes[k].size; --x)
      if (p.nodes[x].kind == node_kind::extent) problem.subject = p.nodes[x].name;
  }
}

}  // namespace detail

/// First mistake in a kernel, as far as the known extents show it.
constexpr finding check_program(const program_view& p) {
  finding problem;
  problem.dims = p.dims;
  detail::check_names(p, problem);
  if (problem.ok()) detail::check_order(p, problem);
  detail::check_expectations(p, problem);
  if (problem.ok()) check_stored_patterns(p, problem);
  for_each_definition(p.nodes, p.count, [&](int at) {
    if (!problem.ok()) return;
    const children part = children_of(p.nodes, at);
    const std::string_view target = p.nodes[part.at[0]].tensor->name;
    const axis_scope scope = left_axes(p, at, problem);
    if (!problem.ok()) {
      if (problem.first.empty()) problem.first = target;
      return;
    }
    detail::definition_checker walker{p, problem, target, scope.count};
    for (int k = 0; k < part.count; ++k) walker.walk(part.at[k], scope);
    if (!problem.ok() && problem.first.empty()) problem.first = target;
    if (problem.ok()) check_sparse_definition(p, at, problem);
  });
  return problem;
}

}  // namespace tilewright::dsl
