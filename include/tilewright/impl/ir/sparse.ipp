#pragma once

#include <algorithm>
#include <utility>

#include <tilewright/ir/sparse.hpp>

namespace tilewright::ir {
namespace detail {

inline sparse_axis make_axis(sparse_axis_node node) {
  return sparse_axis(new sparse_axis_node(std::move(node)));
}

/// Elements of the dimension of storage that ends with this axis.
inline expr stored_extent(const sparse_axis_node& axis) {
  if (axis.variable()) return axis.nnz;
  return axis.kind == axis_kind::sparse_fixed ? axis.width : axis.length;
}

}  // namespace detail

TILEWRIGHT_INLINE sparse_axis dense_fixed(std::string name, expr length) {
  sparse_axis_node n;
  n.name = std::move(name);
  n.length = std::move(length);
  return detail::make_axis(std::move(n));
}

TILEWRIGHT_INLINE sparse_axis sparse_variable(std::string name, sparse_axis parent, expr length,
                                              expr nnz, buffer indptr, buffer indices) {
  sparse_axis_node n;
  n.name = std::move(name);
  n.kind = axis_kind::sparse_variable;
  n.parent = std::move(parent);
  n.length = std::move(length);
  n.nnz = std::move(nnz);
  n.indptr = std::move(indptr);
  n.indices = std::move(indices);
  return detail::make_axis(std::move(n));
}

TILEWRIGHT_INLINE sparse_axis dense_variable(std::string name, sparse_axis parent, expr length,
                                             expr nnz, buffer indptr) {
  sparse_axis_node n;
  n.name = std::move(name);
  n.kind = axis_kind::dense_variable;
  n.parent = std::move(parent);
  n.length = std::move(length);
  n.nnz = std::move(nnz);
  n.indptr = std::move(indptr);
  return detail::make_axis(std::move(n));
}

TILEWRIGHT_INLINE sparse_axis sparse_fixed(std::string name, sparse_axis parent, expr length,
                                           expr width, buffer indices) {
  sparse_axis_node n;
  n.name = std::move(name);
  n.kind = axis_kind::sparse_fixed;
  n.parent = std::move(parent);
  n.length = std::move(length);
  n.width = std::move(width);
  n.indices = std::move(indices);
  return detail::make_axis(std::move(n));
}

TILEWRIGHT_INLINE std::vector<sparse_axis> ancestry(const sparse_axis& axis) {
  std::vector<sparse_axis> out;
  for (sparse_axis a = axis; a; a = a->parent) out.push_back(a);
  std::reverse(out.begin(), out.end());
  return out;
}

TILEWRIGHT_INLINE expr storage_index(const std::vector<sparse_axis>& axes,
                                     const std::vector<expr>& positions, dtype index) {
  expr out = integer(index, 0);
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const sparse_axis_node& axis = *axes[k];
    const expr position = cast(index, positions[k]);
    if (axis.variable())  // continues the dimension that its parent began
      out = cast(index, load(axis.indptr, {out})) + position;
    else
      out = out * cast(index, detail::stored_extent(axis)) + position;
  }
  return out;
}

TILEWRIGHT_INLINE expr fibre_extent(const sparse_axis_node& axis, const expr& parent, dtype index) {
  if (!axis.variable()) return cast(index, detail::stored_extent(axis));
  const expr one = integer(index, 1);
  return cast(index, load(axis.indptr, {parent + one})) - cast(index, load(axis.indptr, {parent}));
}

}  // namespace tilewright::ir
