#include <tilewright/expr/formats/parted_matrix.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/expr/formats/csr_matrix.hpp>

using namespace tilewright;

namespace {

constexpr dim blocks_first = parts<bsr<"K", 2>, compressed<"K">>;
constexpr dim lanes_first = parts<sell<"K", 2>, compressed<"K">>;
constexpr dim one_first = parts<ell<"K", 1>, compressed<"K">>;

/// 4 x 4: a full block of 2 x 2 at the top left, and single elements.
csr_matrix<float> block_and_elements(float sign = 1) {
  const std::vector<int> rows{0, 0, 0, 1, 1, 3}, columns{0, 1, 3, 0, 1, 2};
  const std::vector<float> values{sign * 1, sign * 2, sign * 3, sign * 4, sign * 5, sign * 6};
  return {4, 4, rows, columns, values};
}

template <class Call>
std::string parts_refusal(const Call& call) {
  try {
    call();
  } catch (const argument_error& e) {
    return e.what();
  }
  return {};
}

/// Each element is at one place of one part.
template <class Matrix>
void check_every_element_once(const Matrix& m) {
  std::vector<int> seen(static_cast<std::size_t>(m.nonzeros()), 0);
  for (const auto* source : {&m.template part<0>().source(), &m.template part<1>().source()})
    for (const std::int32_t element : *source)
      if (element >= 0) ++seen[static_cast<std::size_t>(element)];
  for (const int times : seen) CHECK(times == 1);
  std::int64_t all = 0;
  for (const std::int64_t share : m.shares()) all += share;
  CHECK(all == m.nonzeros());
}

}  // namespace

TEST_CASE("blocks take what fills them, and rows the rest") {
  const parted_matrix<float, blocks_first> m(block_and_elements(), {.least_fill = 1});
  CHECK(m.part<0>().offsets() == std::vector<std::int32_t>{0, 1, 1});
  CHECK(m.part<0>().indices() == std::vector<std::int32_t>{0});
  CHECK(m.part<0>().values() == std::vector<float>{1, 4, 2, 5});
  CHECK(m.part<0>().source() == std::vector<std::int32_t>{0, 3, 1, 4});
  CHECK(m.part<1>().offsets() == std::vector<std::int32_t>{0, 1, 1, 1, 2});
  CHECK(m.part<1>().indices() == std::vector<std::int32_t>{3, 2});
  CHECK(m.part<1>().source() == std::vector<std::int32_t>{2, 5});
  CHECK(m.shares() == std::vector<std::int64_t>{4, 2});
  CHECK(m.padding() == 0);
  check_every_element_once(m);
}

TEST_CASE("rows of one width take the first elements, rows side by side those that are short") {
  const parted_matrix<float, one_first> first(block_and_elements());
  CHECK(first.part<0>().values() == std::vector<float>{1, 4, 0, 6});
  CHECK(first.part<1>().values() == std::vector<float>{2, 3, 5});
  check_every_element_once(first);
  const parted_matrix<float, lanes_first> shorter(block_and_elements(), {.longest_row = 2});
  CHECK(shorter.part<1>().offsets() == std::vector<std::int32_t>{0, 3, 3, 3, 3});
  CHECK(shorter.shares() == std::vector<std::int64_t>{3, 3});
  check_every_element_once(shorter);
}

TEST_CASE("new values go to the part that has the element") {
  parted_matrix<float, blocks_first> m(block_and_elements(), {.least_fill = 1});
  m.refresh(block_and_elements(-1));
  const parted_matrix<float, blocks_first> expected(block_and_elements(-1), {.least_fill = 1});
  CHECK(m.part<0>().values() == expected.part<0>().values());
  CHECK(m.part<1>().values() == expected.part<1>().values());
  const std::vector<int> row{0}, column{0};
  const csr_matrix<float> other(4, 4, row, column, std::vector<float>{1});
  CHECK(parts_refusal([&] {
          m.refresh(other);
        }).find("parted_matrix: refresh is given another pattern, of 4 x 4 with 1 elements") == 0);
}

TEST_CASE("a matrix without elements has parts without elements") {
  const std::vector<int> none;
  const std::vector<float> no_values;
  const parted_matrix<float, blocks_first> empty(csr_matrix<float>(3, 3, none, none, no_values));
  CHECK(empty.part<0>().offsets() == std::vector<std::int32_t>{0, 0, 0});
  CHECK(empty.part<1>().offsets() == std::vector<std::int32_t>{0, 0, 0, 0});
  CHECK(empty.padding() == 0);
}

TEST_CASE("two parts of rows of one width share out the columns") {
  constexpr dim halves = parts<ell<"K", 2>, ell<"K", 2>, dcsr<"K">>;
  const parted_matrix<float, halves> m(block_and_elements(), {.by_columns = true});
  CHECK(m.shares() == std::vector<std::int64_t>{4, 2, 0});
  CHECK(m.part<0>().values() == std::vector<float>{1, 2, 4, 5, 0, 0, 0, 0});
  CHECK(m.part<1>().values() == std::vector<float>{3, 0, 0, 0, 0, 0, 6, 0});
  const parted_matrix<float, halves> whole(block_and_elements());
  CHECK(whole.shares() == std::vector<std::int64_t>{5, 1, 0});
}

TEST_CASE("parts that do not suit the matrix, and wrong patterns, are refused") {
  CHECK(parts_refusal([] {
          parted_matrix<float, blocks_first> m(block_and_elements(), {.least_share = 0.9});
        }) ==
        "parted_matrix: the parts before the last take 4 of 6 elements, which is less than "
        "least_share");
  CHECK(parts_refusal([] {
          parted_matrix<float, parts<ell<"K", 40>, compressed<"K">>> m(block_and_elements());
        })
            .find("parted_matrix: 6 elements in rows of 40 places would take more than 8.000000 "
                  "places each; take narrower rows") == 0);
  const std::vector<std::int32_t> offsets{0, 1}, indices{9};
  const std::vector<float> values{1};
  CHECK(parts_refusal([&] {
          parted_matrix<float, blocks_first> m(csr(offsets, indices, values, 3));
        }) == "parted_matrix: \"indices\"[0] is 9 in row 0; the columns are 0 to 2");
}
