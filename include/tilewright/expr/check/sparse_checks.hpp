// Accesses of sparse tensors: `A(i, k)` inside `sum<k>` walks what is stored of row i, and so does the
// definition of `S(i, k)` where S is stored like A.
//
// What is not stored counts as zero, so the walk of a sum may leave it out where a zero there adds
// zero: the tensor is a factor of the value. Where it counts as an infinity (absent_as), the walk of a minimum
// or maximum may leave it out in the same way. Everything else would need the elements that are absent,
// and is refused. A result on a pattern is computed at the elements of the pattern, whatever its
// value; what it reads of sparse tensors is the same element of others on that pattern.
//
// Several patterns along one axis are merged where the expression says how, by intersect or unite, and
// then the reduction may be any. What is looked up walks nothing, and may be read anywhere.
#pragma once

#include <limits>
#include <string_view>

#include <tilewright/expr/check/finding.hpp>

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
  if (n.kind == node_kind::load) return n.tensor == tensor && n.stored != stored_read::looked_up;
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

/// Whether the value at `at` is the infinity that `tensor` counts as absent, wherever that is absent.
constexpr bool stays_infinite(const program_view& p, int at, const tensor_info* tensor) {
  const node& n = p.nodes[at];
  if (n.kind == node_kind::load) return n.tensor == tensor && n.stored != stored_read::looked_up;
  if (n.kind != node_kind::operation) return false;
  const children part = children_of(p.nodes, at);
  const auto child = [&](int k) { return stays_infinite(p, part.at[k], tensor); };
  const bool highest = tensor->absent() > 0;
  switch (n.op) {
    case ir::op::add: return is_float(n.type) && (child(0) || child(1));  // integers wrap around
    case ir::op::sub: return is_float(n.type) && child(0);
    case ir::op::max: return highest ? child(0) || child(1) : child(0) && child(1);
    case ir::op::min: return highest ? child(0) && child(1) : child(0) || child(1);
    default: return false;
  }
}

/// Whether the value at `at` changes no result of the reduction wherever `tensor` has its absent value.
constexpr bool changes_nothing(const program_view& p, int at, const tensor_info* tensor,
                               dsl::reduction kind) {
  const double absent = tensor->absent(), most = std::numeric_limits<double>::max();
  switch (kind) {
    case dsl::reduction::sum: return absent == 0 && vanishes_with(p, at, tensor);
    case dsl::reduction::min: return absent > most && stays_infinite(p, at, tensor);
    case dsl::reduction::max: return absent < -most && stays_infinite(p, at, tensor);
    default: return false;
  }
}

/// Two accesses of tensors on one pattern at the same element of it.
constexpr bool same_element(const program_view& p, int a, int b) {
  const children at = children_of(p.nodes, a), other = children_of(p.nodes, b);
  const tensor_info &own = *p.nodes[a].tensor, &second = *p.nodes[b].tensor;
  if (own.pattern() != second.pattern() || own.stored_rank() != second.stored_rank()) return false;
  for (int d = 0; d < own.stored_rank(); ++d)
    if (!same_tree(p.nodes, at.at[d], other.at[d])) return false;
  return true;
}

/// Another sparse tensor, or the same elsewhere, that walks `axis` in the reduction; -1: none.
constexpr int other_walk(const program_view& p, int reduction, int at, std::string_view axis) {
  for (int k = reduction - p.nodes[reduction].size + 1; k < reduction; ++k) {
    const node& n = p.nodes[k];
    if (k == at || n.kind != node_kind::load || !n.tensor->sparse() ||
        n.stored == stored_read::looked_up)
      continue;
    const children index = children_of(p.nodes, k);
    for (int d = 0; d < index.count; ++d)
      if ((n.tensor->dims[d].compressed() || n.tensor->storage() == dim_storage::csc) &&
          p.nodes[index.at[d]].name == axis && !same_element(p, at, k))
        return k;
  }
  return -1;
}

/// An access of a sparse tensor is at plain axes, as far as some elements along them are stored.
constexpr void check_walk(const program_view& p, int at, finding& problem) {
  const children index = children_of(p.nodes, at);
  for (int d = 0; d < p.nodes[at].tensor->stored_rank() && problem.ok(); ++d) {
    if (p.nodes[index.at[d]].kind == node_kind::axis) continue;
    problem.what = fault::walks_no_axis;
    problem.subject = p.nodes[at].tensor->name;
    problem.a = d;
    problem.at = at;
  }
}

/// A read in the reduction at `r` says of the element at `at` that no other counts.
constexpr bool leaves_out_absent(const program_view& p, int r, int at) {
  for (int k = r - p.nodes[r].size + 1; k < r; ++k)
    if (p.nodes[k].stored == stored_read::alone && same_element(p, at, k)) return true;
  return false;
}

/// What counts as absent at `at`, or in another tensor on its pattern there, changes no result of the reduction
/// at `r`: where one is absent, so are all.
constexpr bool adds_nothing_where_absent(const program_view& p, int r, int at) {
  const int value = children_of(p.nodes, r).at[p.nodes[r].axes];
  for (int k = r - p.nodes[r].size + 1; k < r; ++k) {
    const node& n = p.nodes[k];
    if (n.kind == node_kind::load && n.tensor->sparse() && n.stored != stored_read::looked_up &&
        (k == at || same_element(p, at, k)) &&
        changes_nothing(p, value, n.tensor, p.nodes[r].reduction))
      return true;
  }
  return false;
}

/// A reduction that combines its result with one value after the other.
constexpr bool folds_in_order(dsl::reduction kind) {
  return kind == dsl::reduction::sum || kind == dsl::reduction::prod ||
         kind == dsl::reduction::max || kind == dsl::reduction::min;
}

constexpr bool merges(const node& n) {
  return n.stored == stored_read::intersected || n.stored == stored_read::united;
}

/// The reduction at `r` merges what `at` stores along `axis` with what others do.
constexpr void check_merged_walk(const program_view& p, int r, int at, std::string_view axis,
                                 finding& problem) {
  bool several = false;
  for (int k = r - p.nodes[r].size + 1; k < r; ++k) {
    const node& n = p.nodes[k];
    if (k == at || n.kind != node_kind::load || !n.tensor->sparse() ||
        n.stored == stored_read::looked_up)
      continue;
    if (p.nodes[children_of(p.nodes, k).at[n.tensor->rank - 1]].name != axis) continue;
    several = several || !same_element(p, at, k);
    if (n.stored == p.nodes[at].stored) continue;
    problem.what = fault::merges_differently;
    problem.subject = axis;
    problem.first = p.nodes[at].tensor->name;
    problem.second = n.tensor->name;
    return;
  }
  if (several) return;
  problem.what = fault::merges_one_pattern;
  problem.subject = axis;
  problem.first = p.nodes[at].tensor->name;
}

/// The reduction at `r` walks what `at` stores along `axis`.
constexpr void check_reduced_walk(const program_view& p, int r, int at, std::string_view axis,
                                  finding& problem) {
  const tensor_info& tensor = *p.nodes[at].tensor;
  const node& around = p.nodes[r];
  const bool walks_it = leaves_out_absent(p, r, at) && folds_in_order(around.reduction);
  if (!adds_nothing_where_absent(p, r, at) && !walks_it) {
    problem.what =
        tensor.absent() == 0 ? fault::needs_what_is_absent : fault::counts_what_is_absent;
    problem.subject = tensor.name;
    problem.first = axis;
    problem.at = r;
    return;
  }
  const int other = other_walk(p, r, at, axis);
  if (other < 0) return;
  problem.what = fault::walks_two_patterns;
  problem.subject = axis;
  problem.first = p.nodes[other].tensor->name;
  problem.second = tensor.name;
}

/// Compressed rows of its own, or of another tensor.
constexpr bool has_compressed_rows(const tensor_info& t) {
  return t.rank == 2 &&
         (t.storage() == dim_storage::compressed || t.storage() == dim_storage::stored_like);
}

/// Whether what the tensor stores is walked along dimension `d` in the read at `at`: along its columns, and
/// where it is stored by columns along what is reduced.
constexpr bool walks_along(const program_view& p, int define, int at, int d) {
  const tensor_info& t = *p.nodes[at].tensor;
  if (t.storage() != dim_storage::csc) return t.dims[d].compressed();
  const children index = children_of(p.nodes, at);
  const bool across = reduction_around(p, define, at, p.nodes[index.at[1]].name) < 0 &&
                      reduction_around(p, define, at, p.nodes[index.at[0]].name) >= 0;
  return d == (across ? 0 : 1);
}

/// @param target the store of the definition
constexpr void check_sparse_read(const program_view& p, int define, int target, int at,
                                 finding& problem) {
  const tensor_info &tensor = *p.nodes[at].tensor, &result = *p.nodes[target].tensor;
  const bool looked_up = p.nodes[at].stored == stored_read::looked_up;
  if ((looked_up || merges(p.nodes[at])) && !has_compressed_rows(tensor)) {
    problem.what = fault::needs_compressed_rows;
    problem.subject = tensor.name;
  }
  if (looked_up) return;
  check_walk(p, at, problem);
  const children index = children_of(p.nodes, at);
  for (int d = 0; d < index.count && problem.ok(); ++d) {
    if (!walks_along(p, define, at, d)) continue;
    const std::string_view axis = p.nodes[index.at[d]].name;
    const int r = reduction_around(p, define, at, axis);
    if (r >= 0 && merges(p.nodes[at])) {
      check_merged_walk(p, r, at, axis, problem);
    } else if (r >= 0 && !result.sparse()) {
      check_reduced_walk(p, r, at, axis, problem);
    } else if (r >= 0 || (result.sparse() && !same_element(p, target, at))) {
      problem.what = fault::walks_two_patterns;
      problem.subject = axis;
      problem.first = tensor.name;
      problem.second = result.name;
    } else if (!result.sparse()) {
      problem.what = fault::walks_left_axis;
      problem.subject = axis;
      problem.first = tensor.name;
    }
  }
}

/// A matrix of which each place may have a value of another tensor.
constexpr bool is_pattern_of_places(const tensor_info& t) {
  if (t.storage() == dim_storage::bsr || t.storage() == dim_storage::ell ||
      t.storage() == dim_storage::dcsr)
    return true;
  const part_list parts = t.storage() == dim_storage::parts ? t.dims[1].parts : part_list();
  for (int k = 0; k < parts.count; ++k)
    if (parts.at[k].storage == dim_storage::sell) return false;
  return parts.count > 0;
}

/// The input whose pattern `t` is stored on; null when there is none of the same dimensions.
constexpr const tensor_info* pattern_of(const program_view& p, const tensor_info& t) {
  for (int k = 0; k < p.param_count; ++k) {
    const tensor_info& of = *p.params[k];
    const bool rows = (of.storage() == dim_storage::compressed || is_pattern_of_places(of)) &&
                      of.rank == 2 && t.rank == 2;
    bool same = of.name == t.pattern() && of.role == role::in &&
                (rows || of.storage() == dim_storage::ragged);
    for (int d = 0; same && d < t.stored_rank(); ++d)
      same = of.dims[d].name == t.dims[d].name && of.dims[d].extent == t.dims[d].extent;
    if (same) return &of;
  }
  return nullptr;
}

constexpr void check_stored_pattern(const program_view& p, const tensor_info& t, finding& problem) {
  if (!t.sparse() || t.pattern() == t.name || !problem.ok() || pattern_of(p, t)) return;
  problem.what = fault::has_no_pattern;
  problem.subject = t.name;
  problem.first = t.pattern();
}

}  // namespace detail

/// Checks that each tensor that is stored like another one finds it.
constexpr void check_stored_patterns(const program_view& p, finding& problem) {
  for (int k = 0; k < p.param_count; ++k) detail::check_stored_pattern(p, *p.params[k], problem);
  for (int k = 0; k < p.count; ++k)
    if (p.nodes[k].tensor) detail::check_stored_pattern(p, *p.nodes[k].tensor, problem);
}

/// Checks the accesses of sparse tensors in the definition at `define`.
constexpr void check_sparse_definition(const program_view& p, int define, finding& problem) {
  const int target = children_of(p.nodes, define).at[0];
  if (p.nodes[target].tensor->sparse()) detail::check_walk(p, target, problem);
  for (int k = define - p.nodes[define].size + 1; k < define && problem.ok(); ++k)
    if (p.nodes[k].kind == node_kind::load && p.nodes[k].tensor->sparse())
      detail::check_sparse_read(p, define, target, k, problem);
}

}  // namespace tilewright::dsl
