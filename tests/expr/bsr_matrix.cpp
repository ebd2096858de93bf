#include <tilewright/expr/formats/bsr_matrix.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/expr/formats/csr_matrix.hpp>

using namespace tilewright;

namespace {

/// 5 x 7 with elements in three of its blocks of 2 x 2, two of which are cut off by the edge.
csr_matrix<float> sample(float sign = 1) {
  const std::vector<int> rows{0, 0, 1, 4}, columns{2, 6, 3, 6};
  const std::vector<float> values{sign * 1, sign * 2, sign * 3, sign * 4};
  return {5, 7, rows, columns, values};
}

template <class Call>
std::string block_refusal(const Call& call) {
  try {
    call();
  } catch (const argument_error& e) {
    return e.what();
  }
  return {};
}

}  // namespace

TEST_CASE("a block is stored by columns, where one of its elements is") {
  const bsr_matrix<float, 2> m(sample());
  CHECK(m.offsets() == std::vector<std::int32_t>{0, 2, 2, 3});
  CHECK(m.indices() == std::vector<std::int32_t>{1, 3, 3});
  CHECK(m.values() == std::vector<float>{1, 0, 0, 3, 2, 0, 0, 0, 4, 0, 0, 0});
  CHECK(m.source() == std::vector<std::int32_t>{0, -1, -1, 2, 1, -1, -1, -1, 3, -1, -1, -1});
  CHECK(m.padding() == doctest::Approx(8.0 / 12));
  CHECK(m.rows() == 5);
  CHECK(m.columns() == 7);
}

TEST_CASE("new values go to their places in the blocks") {
  bsr_matrix<float, 2> m(sample());
  m.refresh(sample(-1));
  CHECK(m.values() == bsr_matrix<float, 2>(sample(-1)).values());
  const std::vector<int> row{0}, column{0};
  const csr_matrix<float> other(5, 7, row, column, std::vector<float>{1});
  CHECK(block_refusal([&] {
          m.refresh(other);
        }).find("bsr_matrix: refresh is given another pattern, of 5 x 7 with 1 elements") == 0);
}

TEST_CASE("matrices without elements or rows have no blocks") {
  const std::vector<int> none;
  const std::vector<float> no_values;
  const bsr_matrix<float, 4> empty(csr_matrix<float>(6, 6, none, none, no_values));
  CHECK(empty.offsets() == std::vector<std::int32_t>{0, 0, 0});
  CHECK(empty.padding() == 0);
  const bsr_matrix<float, 4> no_rows(csr_matrix<float>(0, 6, none, none, no_values));
  CHECK(no_rows.offsets() == std::vector<std::int32_t>{0});
}

TEST_CASE("blocks that would be mostly padding, and wrong patterns, are refused") {
  CHECK(block_refusal([] { bsr_matrix<float, 64> m(sample()); })
            .find("bsr_matrix: 4 elements would take more than 8.000000 places each; take smaller "
                  "blocks") == 0);
  const std::vector<std::int32_t> offsets{0, 1}, indices{9};
  const std::vector<float> values{1};
  CHECK(block_refusal([&] { bsr_matrix<float, 2> m(csr(offsets, indices, values, 3)); }) ==
        "bsr_matrix: \"indices\"[0] is 9 in row 0; the columns are 0 to 2");
}
