// The axes of a matrix in another format than compressed rows, and the arrays that they name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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
  if (format.diagonals >= 0)
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
  if (format.diagonals < 0) arrays.push_back(indices);
  arrays.push_back(own.stored.storage);
  return arrays;
}

}  // namespace tilewright::sparse::detail
