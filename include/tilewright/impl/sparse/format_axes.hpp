// The axes of a matrix in another format than compressed rows, and the arrays that they name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/impl/sparse/converted_nest.hpp>

namespace tilewright::sparse::detail {

/// @name Formats
/// Each gives its axes to the matrix, and returns the arrays before the indices.
/// @{
inline std::vector<buffer> store_compressed(converted_parameter& own, const buffer& indices) {
  const std::string& name = own.format.arrays();
  const bool columns = own.format.by_columns;
  const expr outer = own.matrix->shape.at(columns ? 1 : 0),
             inner = own.matrix->shape.at(columns ? 0 : 1);
  const buffer indptr =
      make_buffer(indptr_name(name), own.format.index, {outer + integer(outer.type(), 1)});
  const sparse_axis above = dense_fixed(name + (columns ? "_columns" : "_rows"), outer);
  own.stored.axes = {above,
                     sparse_variable(name + (columns ? "_rows" : "_columns"), above, inner,
                                     integer(outer.type(), own.format.places), indptr, indices)};
  return {indptr};
}

inline std::vector<buffer> store_diagonals(converted_parameter& own) {
  const std::string& name = own.format.arrays();
  const expr rows = own.matrix->shape.at(0), count = integer(rows.type(), own.format.diagonals);
  own.diagonals = make_buffer(diagonals_name(name), own.format.index, {count});
  own.stored.axes = {dense_fixed(name + "_diagonals", count), dense_fixed(name + "_rows", rows)};
  return {own.diagonals};
}

/// The list of rows is one fibre: its numbers are the coordinates of rows.
inline std::vector<buffer> store_numbered_rows(converted_parameter& own, const buffer& indices) {
  const stored_parameter& format = own.format;
  const std::string& name = format.arrays();
  const expr rows = own.matrix->shape.at(0), columns = own.matrix->shape.at(1);
  const auto number = [&](std::int64_t n) { return integer(rows.type(), n); };
  const expr stored = number(format.numbered_rows);
  const buffer numbers = make_buffer(row_numbers_name(name), format.index, {stored});
  const buffer indptr = make_buffer(indptr_name(name), format.index, {stored + number(1)});
  const sparse_axis list = dense_fixed(name + "_list", number(1));
  const sparse_axis row = sparse_fixed(name + "_rows", list, rows, stored, numbers);
  own.stored.axes = {
      list, row,
      sparse_variable(name + "_columns", row, columns, number(format.places), indptr, indices)};
  return {numbers, indptr};
}

inline std::vector<buffer> store_slices(converted_parameter& own, const buffer& indices) {
  const stored_parameter& format = own.format;
  const std::string& name = format.arrays();
  const expr rows = own.matrix->shape.at(0), columns = own.matrix->shape.at(1);
  const auto number = [&](std::int64_t n) { return integer(rows.type(), n); };
  const expr slices = number(format.slices), lanes = number(format.lanes);
  own.lengths = make_buffer(lengths_name(name), format.index, {slices, lanes});
  own.order = make_buffer(order_name(name), format.index, {rows});
  const buffer indptr = make_buffer(indptr_name(name), format.index, {slices + number(1)});
  const sparse_axis slice = dense_fixed(name + "_slices", slices);
  const sparse_axis step =
      dense_variable(name + "_steps", slice, columns, number(format.places / format.lanes), indptr);
  const sparse_axis lane = dense_fixed(name + "_lanes", lanes, step);
  own.stored.axes = {slice, step, lane,
                     sparse_fixed(name + "_columns", lane, columns, number(1), indices)};
  return {indptr, own.lengths, own.order};
}

inline std::int64_t blocks_of(const stored_parameter& format) {
  return format.places / (format.block * format.block);
}

inline std::vector<buffer> store_blocks(converted_parameter& own, const buffer& indices) {
  const stored_parameter& format = own.format;
  const std::string& name = format.arrays();
  const auto number = [&](std::int64_t n) { return integer(own.matrix->shape[0].type(), n); };
  const auto groups = [&](std::int64_t n) { return number((n + format.block - 1) / format.block); };
  const expr rows = groups(own.rows()), size = number(format.block);
  const buffer indptr = make_buffer(indptr_name(name), format.index, {rows + number(1)});
  const sparse_axis row = dense_fixed(name + "_block_rows", rows);
  const sparse_axis column = sparse_variable(name + "_block_columns", row, groups(own.columns()),
                                             number(blocks_of(format)), indptr, indices);
  own.stored.axes = {row, column, dense_fixed(name + "_columns", size, column),
                     dense_fixed(name + "_rows", size, column)};
  return {indptr};
}

inline std::vector<buffer> store_rows_of_one_width(converted_parameter& own,
                                                   const buffer& indices) {
  const std::string& name = own.format.arrays();
  const expr rows = own.matrix->shape.at(0), columns = own.matrix->shape.at(1);
  own.lengths = make_buffer(lengths_name(name), own.format.index, {rows});
  const sparse_axis row = dense_fixed(name + "_rows", rows);
  const sparse_axis step =
      dense_fixed(name + "_steps", integer(rows.type(), own.format.width), row);
  own.stored.axes = {
      row, step, sparse_fixed(name + "_columns", step, columns, integer(rows.type(), 1), indices)};
  return {own.lengths};
}
/// @}

/// The axes that a rule states, in its order. Of one sparse axis the arrays have the names of compressed rows.
/// @returns the arrays before the values
inline std::vector<buffer> store_by_rule(converted_parameter& own) {
  const format_rule& rule = *own.format.rule;
  check_format_rule(rule, own.rows(), own.columns());
  const dtype type = own.matrix->shape.at(0).type();
  const auto number = [&](std::int64_t n) { return integer(type, n); };
  std::size_t level = 0;
  std::vector<buffer> out;
  for (const format_axis& a : rule.axes) {
    const std::string name = own.format.arrays() + "_" + a.name;
    const std::string arrays = rule_arrays_name(own.format.arrays(), rule, a);
    std::vector<sparse_axis>& axes = own.stored.axes;
    sparse_axis parent;
    for (std::size_t k = 0; k < axes.size(); ++k)
      if (rule.axes[k].name == a.parent) parent = axes[k];
    if (a.kind == axis_kind::dense_fixed) {
      axes.push_back(dense_fixed(name, number(a.length), parent));
      continue;
    }
    const expr above = storage_extent(axes);
    const bool variable = a.kind == axis_kind::sparse_variable;
    if (variable && level == own.format.levels.size())
      throw argument_error("with_storage: \"" + own.matrix->name +
                           "\" has no number of elements for axis \"" + a.name +
                           "\"; give one for each sparse_variable axis as levels");
    const expr elements =
        variable ? number(own.format.levels[level++]) : arith::simplify(above * number(a.width));
    if (variable)
      out.push_back(
          make_buffer(indptr_name(arrays), own.format.index, {arith::simplify(above + number(1))}));
    out.push_back(make_buffer(indices_name(arrays), own.format.index, {elements}));
    axes.push_back(variable
                       ? sparse_variable(name, parent, number(a.length), elements,
                                         out[out.size() - 2], out.back())
                       : sparse_fixed(name, parent, number(a.length), number(a.width), out.back()));
  }
  return out;
}

/// Stores the matrix as its format says.
/// @returns its arrays, in the order of a call
inline std::vector<buffer> lay_out(converted_parameter& own) {
  const stored_parameter& format = own.format;
  const std::string& name = format.arrays();
  const auto number = [&](std::int64_t n) { return integer(own.matrix->shape.at(0).type(), n); };
  const expr places = number(format.places);
  const buffer indices = make_buffer(indices_name(name), format.index,
                                     {format.block > 1 ? number(blocks_of(format)) : places});
  std::vector<buffer> arrays;
  if (format.rule)
    arrays = store_by_rule(own);
  else if (format.diagonals >= 0)
    arrays = store_diagonals(own);
  else if (format.block > 1)
    arrays = store_blocks(own, indices);
  else if (format.width > 0)
    arrays = store_rows_of_one_width(own, indices);
  else if (format.lanes > 1)
    arrays = store_slices(own, indices);
  else if (format.numbered_rows >= 0)
    arrays = store_numbered_rows(own, indices);
  else
    arrays = store_compressed(own, indices);
  std::vector<expr> shape;
  for (const sparse_axis& axis : own.stored.axes) shape.push_back(axis->length);
  own.stored.coordinates = make_buffer(name, own.matrix->type, shape);
  own.stored.storage = make_buffer(name, own.matrix->type, {places});
  own.stored.absent = absent_literal(own.matrix->type, format.absent);
  if (format.diagonals < 0 && !format.rule) arrays.push_back(indices);
  arrays.push_back(own.stored.storage);
  return arrays;
}

}  // namespace tilewright::sparse::detail
