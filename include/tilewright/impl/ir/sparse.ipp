#pragma once

#include <algorithm>
#include <utility>

#include <tilewright/ir/sparse.hpp>
#include <tilewright/ir/visit.hpp>

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

TILEWRIGHT_INLINE sparse_axis dense_fixed(std::string name, expr length, sparse_axis parent) {
  sparse_axis_node n;
  n.name = std::move(name);
  n.parent = std::move(parent);
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

TILEWRIGHT_INLINE std::optional<offsets_note> offsets_of(const function& f,
                                                         const std::string& parameter) {
  const auto said = f.attrs.find(offsets_attribute);
  const auto* names =
      said == f.attrs.end() ? nullptr : std::get_if<attr::dict>(&said->second.value);
  const auto own = names ? names->find(parameter) : attr::dict::const_iterator();
  if (!names || own == names->end()) return std::nullopt;
  const auto* pair = std::get_if<attr::list>(&own->second.value);
  if (!pair || pair->size() < 2 || pair->size() > 3) return std::nullopt;
  const auto* into = std::get_if<std::string>(&(*pair)[0].value);
  const auto* last = std::get_if<std::int64_t>(&(*pair)[1].value);
  if (!into || !last || *last < 0) return std::nullopt;
  const auto* coordinates =
      pair->size() == 3 ? std::get_if<std::int64_t>(&(*pair)[2].value) : nullptr;
  return offsets_note{*into, *last, coordinates ? *coordinates : 0};
}

TILEWRIGHT_INLINE double mean_extent(const function& f, const expr& extent) {
  if (is_int(extent)) return static_cast<double>(as_int(extent));
  double out = 1;
  for_each_expr(extent, [&](const expr& e) {
    if (e->op != op::load || e->buffer->shape.size() != 1 || !is_int(e->buffer->shape[0])) return;
    const std::optional<offsets_note> note = offsets_of(f, e->buffer->name);
    const auto rows = static_cast<double>(as_int(e->buffer->shape[0]) - 1);
    if (note && rows > 0) out = std::max(out, static_cast<double>(note->last) / rows);
  });
  return out;
}

TILEWRIGHT_INLINE bool reads_along(const sparse_function& f, const sparse_iter& i, const expr& e) {
  return i.walk != axis_walk::every && e->op == op::load && f.find(e->buffer) &&
         e->args.back().same(i.var);
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

TILEWRIGHT_INLINE std::size_t stored_rank(const sparse_buffer& b) {
  std::size_t out = 0;
  for (std::size_t d = 0; d < b.axes.size(); ++d)
    if (b.axes[d]->variable() || b.axes[d]->sparse()) out = d + 1;
  return out;
}

TILEWRIGHT_INLINE std::vector<expr> place_in_storage(const sparse_buffer& b,
                                                     const std::vector<expr>& positions,
                                                     dtype index) {
  if (b.storage->shape.size() == 1) return {storage_index(b.axes, positions, index)};
  const auto stored = static_cast<std::ptrdiff_t>(stored_rank(b));
  std::vector<expr> out{storage_index({b.axes.begin(), b.axes.begin() + stored},
                                      {positions.begin(), positions.begin() + stored}, index)};
  out.insert(out.end(), positions.begin() + stored, positions.end());
  return out;
}

TILEWRIGHT_INLINE expr storage_extent(const std::vector<sparse_axis>& axes) {
  expr out = integer(axes.front()->length.type(), 1), dimension = out;
  for (const sparse_axis& axis : axes) {
    if (!axis->variable()) out = out * dimension;
    dimension = cast(out.type(), detail::stored_extent(*axis));
  }
  return out * dimension;
}

TILEWRIGHT_INLINE expr fibre_extent(const sparse_axis_node& axis, const expr& parent, dtype index) {
  if (!axis.variable()) return cast(index, detail::stored_extent(axis));
  const expr one = integer(index, 1);
  return cast(index, load(axis.indptr, {parent + one})) - cast(index, load(axis.indptr, {parent}));
}

}  // namespace tilewright::ir
