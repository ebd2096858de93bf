#include <tilewright/expr/formats/sell_matrix.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "refusal.hpp"

using namespace tilewright;
using test_kernels::refusal;

namespace {

struct rows_of_matrix {
  std::vector<std::int32_t> offsets{0}, indices{};
  std::vector<float> values{};
  std::int64_t columns = 50;
  auto view() const { return csr(offsets, indices, values, columns); }
};

rows_of_matrix random_rows(int rows, std::uint32_t seed) {
  std::mt19937 random(seed);
  rows_of_matrix out;
  for (int r = 0; r < rows; ++r) {
    const auto every = static_cast<std::int32_t>(1 + random() % 40);
    for (auto c = static_cast<std::int32_t>(random() % 60); c < 50; c += every) {
      out.indices.push_back(c);
      out.values.push_back(static_cast<float>(out.values.size() + 1));
    }
    out.offsets.push_back(static_cast<std::int32_t>(out.indices.size()));
  }
  return out;
}

/// (row, column, value) of all elements, as the arrays of rows side by side hold them.
template <int Lanes>
std::vector<std::tuple<std::size_t, std::int32_t, float>> elements(
    const sell_matrix<float, Lanes>& m) {
  std::vector<std::tuple<std::size_t, std::int32_t, float>> out;
  for (std::size_t row = 0; row < m.order().size(); ++row) {
    const auto place = static_cast<std::size_t>(m.order()[row]);
    const auto first = static_cast<std::size_t>(m.offsets()[place / Lanes]);
    for (std::size_t t = 0; t < static_cast<std::size_t>(m.lengths()[place]); ++t) {
      const std::size_t at = (first + t) * Lanes + place % Lanes;
      out.emplace_back(row, m.indices()[at], m.values()[at]);
    }
  }
  return out;
}

}  // namespace

TEST_CASE("each element has one place, in the order of its row; the others are padding") {
  for (std::uint32_t seed = 1; seed < 20; ++seed)
    for (const std::int64_t window : {1, 16, 1000}) {
      const rows_of_matrix a = random_rows(static_cast<int>(seed * 7), seed);
      const sell_matrix<float, 8> m(a.view(), {window, 1e9});
      std::vector<std::tuple<std::size_t, std::int32_t, float>> expected;
      for (std::size_t r = 0; r + 1 < a.offsets.size(); ++r)
        for (auto k = static_cast<std::size_t>(a.offsets[r]);
             k < static_cast<std::size_t>(a.offsets[r + 1]); ++k)
          expected.emplace_back(r, a.indices[k], a.values[k]);
      CHECK(elements(m) == expected);
      std::int64_t padding = 0;
      for (std::size_t at = 0; at < m.values().size(); ++at) {
        padding += m.source()[at] < 0;
        CHECK(m.values()[at] ==
              (m.source()[at] < 0 ? 0.0f : a.values[static_cast<std::size_t>(m.source()[at])]));
        CHECK((m.indices()[at] >= 0 && m.indices()[at] < 50));
      }
      const auto all = static_cast<std::int64_t>(m.values().size());
      CHECK(all - padding == m.nonzeros());
      CHECK(m.padding() ==
            doctest::Approx(static_cast<double>(padding) / static_cast<double>(all)));
    }
}

TEST_CASE("a wide window leaves less padding") {
  const rows_of_matrix a = random_rows(400, 3);
  CHECK(sell_matrix<float, 8>(a.view(), {400}).padding() <
        0.5 * sell_matrix<float, 8>(a.view(), {1}).padding());
}

TEST_CASE("new values go where those before were") {
  rows_of_matrix a = random_rows(60, 4);
  sell_matrix<float, 8> m(a.view());
  for (float& v : a.values) v = -v;
  m.refresh(a.view());
  CHECK(elements(m) == elements(sell_matrix<float, 8>(a.view())));
  const rows_of_matrix other = random_rows(61, 4);
  CHECK(refusal([&] { m.refresh(other.view()); }).find("another pattern, of 61 x 50") !=
        std::string::npos);
}

TEST_CASE("no rows, no elements") {
  rows_of_matrix none;
  CHECK(sell_matrix<float, 8>(none.view()).rows() == 0);
  none.offsets.assign(20, 0);
  const sell_matrix<float, 8> empty(none.view());
  CHECK(empty.rows() == 19);
  CHECK(elements(empty).empty());
}

TEST_CASE("what is wrong with a matrix is named by array, position and value") {
  const auto made = [](rows_of_matrix a, sell_options options = {}) {
    return refusal([&] { sell_matrix<float, 8>(a.view(), options); });
  };
  rows_of_matrix good = random_rows(20, 5), a = good;
  CHECK(made(good).empty());
  a.offsets[3] = 1000;
  CHECK(made(a).find("sell_matrix: \"offsets\"[4] is ") == 0);
  a = good;
  a.indices[2] = 50;
  CHECK(made(a).find("sell_matrix: \"indices\"[2] is 50 in row") == 0);
  CHECK(made(good, {0}).find("the window has 0 rows") != std::string::npos);
  CHECK(made(good, {1, 1.01}).find("would take more than") != std::string::npos);
}
