#include "problems/sparse_statistics.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace {

/// 4 x 8: rows of 3, 0, 1 and 5 elements.
bench::sparse_matrix small() {
  return {"small", 4, 8, {0, 3, 3, 4, 9}, {0, 1, 4, 0, 0, 2, 3, 5, 7}, std::vector<float>(9, 1)};
}

/// Offsets and columns rise, columns are in range, and there are as many values.
bool well_formed(const bench::sparse_matrix& m) {
  if (static_cast<std::int32_t>(m.offsets.size()) != m.rows + 1 || m.offsets[0] != 0) return false;
  if (m.offsets.back() != m.nonzeros() || m.values.size() != m.indices.size()) return false;
  for (std::size_t row = 0; row < static_cast<std::size_t>(m.rows); ++row) {
    std::int32_t before = -1;
    if (m.offsets[row + 1] < m.offsets[row]) return false;
    for (auto at = static_cast<std::size_t>(m.offsets[row]);
         at < static_cast<std::size_t>(m.offsets[row + 1]); ++at) {
      if (m.indices[at] <= before || m.indices[at] >= m.columns) return false;
      before = m.indices[at];
    }
  }
  return true;
}

}  // namespace

TEST_CASE("numbers of a pattern are counted") {
  const bench::sparse_matrix m = small();
  const auto of = [&](const char* name) { return bench::statistic_of(m, name); };
  CHECK(of("avg") == 2.25);
  CHECK(of("max") == 5);
  CHECK(of("empty") == 0.25);
  CHECK(of("ell") == doctest::Approx(9.0 / 20));
  CHECK(of("bsr2") == doctest::Approx(9.0 / 24));          // blocks of columns 0, 2 | 0, 1, 2, 3
  CHECK(of("hyb(1,1)") == doctest::Approx(1 - 9.0 / 11));  // 4 + 1 + 6 places
  CHECK(of("hyb(1,3)") == doctest::Approx(1 - 9.0 / 13));  // 4 + 1 + 8
  CHECK(of("hyb(2,3)") == doctest::Approx(1 - 9.0 / 10));  // 2 + 1 | 1 | 4 + 2
  CHECK(of("strips(2,1)") == doctest::Approx(9.0 / 16));   // columns 0, 1, 4 | 0, 2, 3, 5, 7
  CHECK(of("strips(2,4)") == doctest::Approx(9.0 / 24));
  CHECK_THROWS(of("colour"));
}

TEST_CASE("a number agrees with what is known within its share, or half a percent of all") {
  CHECK(bench::agrees({"cv", 5}, 5.2));
  CHECK_FALSE(bench::agrees({"cv", 5}, 5.3));
  CHECK(bench::agrees({"max", 25, 0.15}, 22));
  CHECK(bench::agrees({"ell", 0.003}, 0.0075));
  CHECK_FALSE(bench::agrees({"ell", 0.003}, 0.009));
}

TEST_CASE("matrices of the benchmarks have the statistics of those that they stand for") {
  for (const bench::sparse_matrix& m : bench::sparse_matrices()) {
    CAPTURE(m.name);
    CHECK(well_formed(m));
    CHECK_FALSE(bench::known_statistics(m.name).empty());
    for (const bench::known_statistic& known : bench::known_statistics(m.name)) {
      CAPTURE(known.name);
      const double value = bench::statistic_of(m, known.name);
      CAPTURE(value);
      CHECK(bench::agrees(known, value));
    }
    CHECK(bench::statistics(m).find(" !") == std::string::npos);
  }
}

TEST_CASE("densities are what they say, and pathological matrices are such") {
  const std::vector<double> shares{0.005, 0.05, 0.1, 0.3};
  const std::vector<bench::sparse_matrix> dense = bench::densities();
  REQUIRE(dense.size() == shares.size());
  for (std::size_t k = 0; k < shares.size(); ++k) {
    CHECK(well_formed(dense[k]));
    CHECK(static_cast<double>(dense[k].nonzeros()) / 2048 / 2048 ==
          doctest::Approx(shares[k]).epsilon(0.02));
  }
  std::vector<std::string> names;
  for (const bench::sparse_matrix& m : bench::pathological()) {
    CAPTURE(m.name);
    CHECK(well_formed(m));
    names.push_back(m.name);
    const auto last = static_cast<std::size_t>(m.rows);
    if (m.name == "dense_row" || m.name == "arrow" || m.name == "long_row")
      CHECK(bench::statistic_of(m, "max") == m.columns);
    if (m.name == "empty") CHECK(m.nonzeros() == 0);
    CHECK((bench::statistic_of(m, "empty") == 1) == (m.name == "empty"));
    if (m.name == "last_row_empty") CHECK(m.offsets[last] == m.offsets[last - 1]);
    if (m.name == "dense_column")
      CHECK(std::count(m.indices.begin(), m.indices.end(), m.columns / 2) == m.rows);
  }
  CHECK(names == std::vector<std::string>{"dense_row", "dense_column", "diagonal", "arrow",
                                          "one_row", "one_column", "empty", "last_row_empty",
                                          "long_row"});
}
