#include <tilewright/interop/matrix_market.hpp>

#include <doctest/doctest.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

using namespace tilewright;

namespace {

const std::string general = "%%MatrixMarket matrix coordinate real general\n";

std::string failure(const std::string& text, matrix_market_options options = {}) {
  try {
    parse_matrix_market<float>(text, options);
  } catch (const argument_error& e) {
    return e.what();
  }
  return {};
}

}  // namespace

TEST_CASE("elements in any order become rows, with comments, empty lines and both ends of line") {
  const auto m = parse_matrix_market<double>(
      general +
      "% from somewhere\n\n3 4 4\r\n3 4 -2e1\n1 2 +1.5\n  1\t1   7\r\n% in between\n3 1 4");
  CHECK(m.rows() == 3);
  CHECK(m.columns() == 4);
  CHECK(m.offsets() == std::vector<std::int32_t>{0, 2, 2, 4});
  CHECK(m.indices() == std::vector<std::int32_t>{0, 1, 0, 3});
  CHECK(m.values() == std::vector<double>{7, 1.5, 4, -20});
  CHECK(m.places() == std::vector<std::int32_t>{3, 1, 0, 2});
}

TEST_CASE("symmetric and skew-symmetric files, integers and patterns") {
  const auto s = parse_matrix_market<float>(
      "%%matrixmarket MATRIX coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n");
  CHECK(s.offsets() == std::vector<std::int32_t>{0, 1, 2, 3});
  CHECK(s.indices() == std::vector<std::int32_t>{1, 0, 2});
  CHECK(s.values() == std::vector<float>{1, 1, 1});
  const auto k = parse_matrix_market<float, std::int64_t>(
      "%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 3\n");
  CHECK(k.indices() == std::vector<std::int64_t>{1, 0});
  CHECK(k.values() == std::vector<float>{-3, 3});
  const auto empty = parse_matrix_market<float>(general + "0 5 0\n");
  CHECK(empty.rows() == 0);
  CHECK(empty.columns() == 5);
}

TEST_CASE("what a file says that is not so is refused by line and column") {
  CHECK(failure("") ==
        "matrix market: line 1, column 1: the file is empty; it begins with %%MatrixMarket");
  CHECK(
      failure("%%MatrixMarket matrix array real general\n") ==
      "matrix market: line 1, column 23: expected coordinate; a dense matrix (array) is no sparse "
      "argument");
  CHECK(failure("%%MatrixMarket matrix coordinate complex general\n") ==
        "matrix market: line 1, column 34: expected real, integer or pattern");
  CHECK(failure(general) ==
        "matrix market: line 1, column 1: the numbers of rows, columns and elements are missing");
  CHECK(
      failure(general + "3 3 1000000000000\n1 1 1\n") ==
      "matrix market: line 2, column 5: the number of elements is 1000000000000; it has to be 0 to "
      "1");
  CHECK(failure(general + "2000000000 3 0\n") ==
        "matrix market: line 2, column 1: the number of rows is 2000000000; it has to be 0 to "
        "268435456");
  CHECK(failure(general + "3 3 -1\n").find("has to be 0 to") != std::string::npos);
  CHECK(failure(general + "3 3 2\n1 1 1.00000\n") ==
        "matrix market: line 3, column 1: the file ends after 1 of 2 elements");
  CHECK(failure(general + "3 3 1\n1 1 1\n2 2 1\n") ==
        "matrix market: line 4, column 1: more than the 1 elements that the file speaks of");
  CHECK(failure(general + "3 3 1\n4 1 1\n") ==
        "matrix market: line 3, column 1: the row is 4; it has to be 1 to 3");
  CHECK(failure(general + "3 3 1\n1 0 1\n") ==
        "matrix market: line 3, column 3: the column is 0; it has to be 1 to 3");
  CHECK(failure(general + "3 3 1\n1 1 x\n") ==
        "matrix market: line 3, column 5: expected a number that a double holds");
  CHECK(failure(general + "3 3 1\n1 1 1 1\n") ==
        "matrix market: line 3, column 7: expected the end of the line");
  CHECK(failure("%%MatrixMarket matrix coordinate real symmetric\n3 3 1\n1 2 1\n")
            .find("above the") != std::string::npos);
}

TEST_CASE("an element that stands twice is refused, or added up where that is asked for") {
  const std::string text = general + "2 2 3\n2 1 1\n1 1 5\n2 1 2\n";
  CHECK(failure(text) ==
        "csr_matrix: elements 0 and 2 both stand at row 1, column 0; add them up, or ask for "
        "duplicates::summed");
  matrix_market_options sum;
  sum.twice = duplicates::summed;
  auto m = parse_matrix_market<float>(text, sum);
  CHECK(m.values() == std::vector<float>{5, 3});
  m.refresh(std::vector<float>{10, 20, 30});
  CHECK(m.values() == std::vector<float>{20, 40});
}

TEST_CASE("coordinates of any integer type make a matrix; wrong ones are named") {
  const std::vector<std::uint32_t> rows{1, 0};
  const std::vector<std::int64_t> columns{2, 2};
  const std::vector<float> values{3, 4};
  const csr_matrix<float> m(2, 3, rows, columns, values);
  CHECK(m.offsets() == std::vector<std::int32_t>{0, 1, 2});
  CHECK(m.values() == std::vector<float>{4, 3});
  const auto wrong = [&](std::int64_t r, std::int64_t c) {
    try {
      csr_matrix<float>(r, c, rows, columns, values);
    } catch (const argument_error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(wrong(1, 3) == "csr_matrix: the row of element 0 is 1; it has to be 0 to 0");
  CHECK(wrong(2, 2) == "csr_matrix: the column of element 0 is 2; it has to be 0 to 1");
  CHECK(wrong(-1, 2).find("or less than nothing") != std::string::npos);
}

TEST_CASE("a file is read, and named where it is wrong") {
  const std::string path = "matrix_market_test.mtx";
  std::ofstream(path) << general << "1 2 1\n1 2 3\n";
  CHECK(read_matrix_market<float>(path).values() == std::vector<float>{3});
  std::ofstream(path) << "no matrix\n";
  CHECK_THROWS_WITH(read_matrix_market<float>(path),
                    (path + ": matrix market: line 1, column 1: expected %%MatrixMarket").c_str());
  std::remove(path.c_str());
  CHECK_THROWS_AS(read_matrix_market<float>(path), argument_error);
}
