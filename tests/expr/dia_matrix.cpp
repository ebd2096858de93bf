#include <tilewright/expr/formats/dia_matrix.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include <tilewright/expr/formats/csr_matrix.hpp>

using namespace tilewright;

namespace {

/// 3 x 4: the corner below, two elements of the diagonal, and one above it.
csr_matrix<float> few(float sign = 1) {
  const std::vector<int> rows{2, 0, 2, 1}, columns{0, 0, 2, 2};
  const std::vector<float> values{sign * 1, sign * 2, sign * 3, sign * 4};
  return {3, 4, rows, columns, values};
}

}  // namespace

TEST_CASE("a diagonal is stored whole where one of its elements is") {
  const dia_matrix<float> m(few());
  CHECK(m.offsets() == std::vector<std::int32_t>{-2, 0, 1});
  CHECK(m.values() == std::vector<float>{0, 0, 1, 2, 0, 3, 0, 4, 0});
  CHECK(m.source() == std::vector<std::int32_t>{-1, -1, 2, 0, -1, 3, -1, 1, -1});
  CHECK(m.padding() == doctest::Approx(5.0 / 9));
}

TEST_CASE("new values go where their elements stand; no elements have no diagonals") {
  dia_matrix<float> m(few());
  m.refresh(few(-1));
  CHECK(m.values() == std::vector<float>{0, 0, -1, -2, 0, -3, 0, -4, 0});
  const std::vector<int> none;
  const csr_matrix<float> empty(3, 3, none, none, std::vector<float>{});
  CHECK(dia_matrix<float>(empty).offsets().empty());
  CHECK_THROWS_AS(m.refresh(empty), argument_error);
}

TEST_CASE("too many places are refused before any memory is taken") {
  const std::vector<std::int64_t> offsets{0, 1, 2}, indices{0, std::int64_t{1} << 20};
  const std::vector<float> values{1, 2};
  CHECK_THROWS_WITH_AS(
      (dia_matrix<float, std::int64_t>(csr(offsets, indices, values, std::int64_t{1} << 21),
                                       {1.5})),
      "dia_matrix: 2 elements would take more than 1.500000 places each; take another format, or "
      "allow more by most_padding",
      argument_error);
}
