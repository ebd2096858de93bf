#include <tilewright/expr/formats/dcsr_matrix.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/expr/formats/csr_matrix.hpp>

using namespace tilewright;

namespace {

/// 5 x 4 with elements in rows 1 and 4.
csr_matrix<float> two_rows(float sign = 1) {
  const std::vector<int> rows{4, 1, 1}, columns{3, 0, 2};
  const std::vector<float> values{sign * 3, sign * 1, sign * 2};
  return {5, 4, rows, columns, values};
}

}  // namespace

TEST_CASE("only rows with elements have offsets, and a number") {
  const dcsr_matrix<float> m(two_rows());
  CHECK(m.row_numbers() == std::vector<std::int32_t>{1, 4});
  CHECK(m.offsets() == std::vector<std::int32_t>{0, 2, 3});
  CHECK(m.indices() == std::vector<std::int32_t>{0, 2, 3});
  CHECK(m.values() == std::vector<float>{1, 2, 3});
  CHECK(m.source() == std::vector<std::int32_t>{0, 1, 2});
  CHECK(m.rows() == 5);
  CHECK(m.padding() == 0);
}

TEST_CASE("new values go to the rows that are there; another pattern is refused") {
  dcsr_matrix<float> m(two_rows());
  m.refresh(two_rows(-1));
  CHECK(m.values() == std::vector<float>{-1, -2, -3});
  const std::vector<int> row{0}, column{0};
  const csr_matrix<float> other(5, 4, row, column, std::vector<float>{1});
  CHECK_THROWS_AS(m.refresh(other), argument_error);
}

TEST_CASE("a matrix without elements has one row without any; wrong patterns are refused") {
  const std::vector<int> none;
  const std::vector<float> no_values;
  const dcsr_matrix<float> empty(csr_matrix<float>(3, 3, none, none, no_values));
  CHECK(empty.row_numbers() == std::vector<std::int32_t>{0});
  CHECK(empty.offsets() == std::vector<std::int32_t>{0, 0});
  CHECK(empty.source() == std::vector<std::int32_t>{-1});
  CHECK(empty.padding() == 0);
  const dcsr_matrix<float> no_rows(csr_matrix<float>(0, 3, none, none, no_values));
  CHECK(no_rows.row_numbers().empty());
  const std::vector<std::int32_t> offsets{0, 1}, indices{9};
  const std::vector<float> values{1};
  CHECK_THROWS_WITH_AS(dcsr_matrix<float>(csr(offsets, indices, values, 3)),
                       "dcsr_matrix: \"indices\"[0] is 9 in row 0; the columns are 0 to 2",
                       argument_error);
}
