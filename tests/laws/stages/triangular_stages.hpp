// Stages of random programs whose inner loops, and with them the domains of their blocks, follow an
// outer loop.
#pragma once

#include <laws/stages/guarded_stages.hpp>

namespace laws {

class triangular_stages : protected guarded_stages {
 protected:
  using guarded_stages::guarded_stages;

  /// A part of each row of a matrix that is written everywhere before.
  void triangle(bool last);
  /// Sums over a part of each row, or over all rows that have something in a column.
  void prefix(bool last);
  /// A block that writes a part of each row, and one that reads no more than that.
  void triangles(bool last);

 private:
  /// Columns of a row, in terms of its number; there are no fewer columns than rows.
  struct part {
    ir::range (triangular_stages::*columns)(const ir::expr& row, std::int64_t width) const;
    bool from_start, may_be_empty, all_of_first;
  };
  const part& any_part();
  ir::range lower(const ir::expr& row, std::int64_t width) const;
  ir::range strictly_lower(const ir::expr& row, std::int64_t width) const;
  ir::range upper(const ir::expr& row, std::int64_t width) const;
  ir::range shrinking(const ir::expr& row, std::int64_t width) const;
  ir::range halves(const ir::expr& row, std::int64_t width) const;
  ir::range band(const ir::expr& row, std::int64_t width) const;

  /// A nest over parts of rows; the domain of the columns is that part, or all.
  nest rows_of(const part& p, std::int64_t rows, std::int64_t width);
  /// Over the parts of rows of a matrix, or of the one row that a vector is.
  void sum_rows(const part& p, const ir::buffer& from, std::int64_t rows, bool last);
  void sum_columns(const part& p, const ir::buffer& from, std::int64_t rows, bool last);
  /// A part of the product of a matrix with its transpose.
  void square(const ir::buffer& from, const ir::buffer& to, const part& p);
};

}  // namespace laws
