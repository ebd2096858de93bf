// Reads of sparse tensors: `A(i, k)` inside `sum<k>` walks what is stored of row i.
//
// What is not stored counts as zero, so the walk may leave it out where a zero there adds zero to
// the sum: the tensor is a factor of the value. Everything else would need the elements that are
// absent, and is refused.
#pragma once

#include <string_view>

#include <tilewright/expr/finding.hpp>

namespace tilewright::dsl {
namespace detail {

/// The innermost reduction around `at` below `define` that reduces the axis; -1: none.
constexpr int reduction_around(const program_view& p, int define, int at, std::string_view axis) {
  for (int r = at + 1; r < define; ++r) {
    if (p.nodes[r].kind != node_kind::reduce || r - p.nodes[r].size >= at) continue;
    const children part = children_of(p.nodes, r);
    for (int k = 0; k < p.nodes[r].axes; ++k)
      if (p.nodes[part.at[k]].name == axis) return r;
  }
  return -1;
}

/// Whether a zero of `tensor` makes the value at `at` zero.
constexpr bool vanishes_with(const program_view& p, int at, const tensor_info* tensor) {
  const node& n = p.nodes[at];
  if (n.kind == node_kind::load) return n.tensor == tensor;
  if (n.kind != node_kind::operation) return false;
  const children part = children_of(p.nodes, at);
  const auto child = [&](int k) { return vanishes_with(p, part.at[k], tensor); };
  switch (n.op) {
    case ir::op::mul: return child(0) || child(1);
    case ir::op::add:
    case ir::op::sub: return child(0) && child(1);
    case ir::op::div:
    case ir::op::cast: return child(0);
    default: return false;
  }
}

constexpr bool same_indices(const program_view& p, int a, int b) {
  if (p.nodes[a].tensor != p.nodes[b].tensor || p.nodes[a].size != p.nodes[b].size) return false;
  for (int k = 1; k < p.nodes[a].size; ++k)
    if (!same_node(p.nodes[a - k], p.nodes[b - k])) return false;
  return true;
}

/// Another sparse tensor, or the same elsewhere, that walks `axis` in the reduction; -1: none.
constexpr int other_walk(const program_view& p, int reduction, int at, std::string_view axis) {
  for (int k = reduction - p.nodes[reduction].size + 1; k < reduction; ++k) {
    const node& n = p.nodes[k];
    if (k == at || n.kind != node_kind::load || !n.tensor->sparse()) continue;
    const children index = children_of(p.nodes, k);
    for (int d = 0; d < index.count; ++d)
      if (n.tensor->dims[d].compressed() && p.nodes[index.at[d]].name == axis &&
          !same_indices(p, at, k))
        return k;
  }
  return -1;
}

constexpr void check_sparse_read(const program_view& p, int define, int at, finding& problem) {
  const tensor_info& tensor = *p.nodes[at].tensor;
  const children index = children_of(p.nodes, at);
  for (int d = 0; d < index.count && problem.ok(); ++d) {
    const node& walked = p.nodes[index.at[d]];
    if (walked.kind != node_kind::axis) {
      problem.what = fault::walks_no_axis;
      problem.subject = tensor.name;
      problem.a = d;
      problem.at = at;
      return;
    }
    if (!tensor.dims[d].compressed()) continue;
    const int r = reduction_around(p, define, at, walked.name);
    if (r < 0) {
      problem.what = fault::walks_left_axis;
      problem.subject = walked.name;
      problem.first = tensor.name;
      return;
    }
    const node& around = p.nodes[r];
    const int value = children_of(p.nodes, r).at[around.axes];
    const bool adds = around.reduction == dsl::reduction::sum && vanishes_with(p, value, &tensor);
    if (!adds) {
      problem.what = fault::needs_what_is_absent;
      problem.subject = tensor.name;
      problem.first = walked.name;
      problem.at = r;
      return;
    }
    const int other = other_walk(p, r, at, walked.name);
    if (other >= 0) {
      problem.what = fault::walks_two_patterns;
      problem.subject = walked.name;
      problem.first = p.nodes[other].tensor->name;
      problem.second = tensor.name;
    }
  }
}

}  // namespace detail

/// Checks the reads of sparse tensors in the definition at `define`.
constexpr void check_sparse_reads(const program_view& p, int define, finding& problem) {
  for (int k = define - p.nodes[define].size + 1; k < define && problem.ok(); ++k)
    if (p.nodes[k].kind == node_kind::load && p.nodes[k].tensor->sparse())
      detail::check_sparse_read(p, define, k, problem);
}

}  // namespace tilewright::dsl
