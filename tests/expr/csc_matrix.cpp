#include <tilewright/expr/formats/csc_matrix.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include <tilewright/expr/formats/csr_matrix.hpp>

using namespace tilewright;

namespace {

/// 3 x 4 with nothing in row 1 and in column 1.
csr_matrix<float> few(float sign = 1) {
  const std::vector<int> rows{2, 0, 0, 2}, columns{0, 3, 0, 2};
  const std::vector<float> values{sign * 3, sign * 2, sign * 1, sign * 4};
  return {3, 4, rows, columns, values};
}

}  // namespace

TEST_CASE("elements stand column by column, with the numbers of their rows") {
  const csc_matrix<float> m(few());
  CHECK(m.offsets() == std::vector<std::int32_t>{0, 2, 2, 3, 4});
  CHECK(m.indices() == std::vector<std::int32_t>{0, 2, 2, 0});
  CHECK(m.values() == std::vector<float>{1, 3, 4, 2});
  CHECK(m.source() == std::vector<std::int32_t>{0, 2, 3, 1});
  CHECK(m.rows() == 3);
  CHECK(m.columns() == 4);
  CHECK(m.padding() == 0);
}

TEST_CASE("new values go where their elements stand; another pattern and wrong ones are refused") {
  csc_matrix<float> m(few());
  m.refresh(few(-1));
  CHECK(m.values() == std::vector<float>{-1, -3, -4, -2});
  const std::vector<int> row{0}, column{0};
  const csr_matrix<float> other(3, 4, row, column, std::vector<float>{1});
  CHECK_THROWS_AS(m.refresh(other), argument_error);
  const std::vector<std::int32_t> offsets{0, 1}, indices{9};
  const std::vector<float> values{1};
  CHECK_THROWS_WITH_AS(csc_matrix<float>(csr(offsets, indices, values, 3)),
                       "csc_matrix: \"indices\"[0] is 9 in row 0; the columns are 0 to 2",
                       argument_error);
}

TEST_CASE("arrays of columns as they stand") {
  const std::vector<std::int64_t> offsets{0, 1, 1}, indices{2}, none, two{0, 1};
  const std::vector<double> values{5};
  const auto view = csc_of(offsets, indices, values, 3);
  CHECK(view.rows == 3);
  CHECK(view.columns == 2);
  CHECK_THROWS_WITH_AS(csc_of(none, indices, values, 3),
                       "csc_of: there are no offsets; a matrix of n columns has n + 1 of them",
                       argument_error);
  CHECK_THROWS_WITH_AS(csc_of(offsets, two, values, 3),
                       "csc_of: there are 2 indices and 1 values; each element has one of each",
                       argument_error);
}
