// What is measured of a pattern, and how near patterns are to each other.
#include <tilewright/model/pattern_fingerprint.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <vector>

#include <tilewright/search/database/record.hpp>

using namespace tilewright;

namespace {

template <class Index = std::int32_t>
pattern_fingerprint measured(int rows, int columns, const std::function<bool(int, int)>& stored) {
  std::vector<Index> offsets{0}, indices;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c)
      if (stored(r, c)) indices.push_back(c);
    offsets.push_back(static_cast<Index>(indices.size()));
  }
  return fingerprint_of({offsets.data(), indices.data(),
                         sizeof(Index) == 8 ? dtype::i64 : dtype::i32, rows, columns,
                         static_cast<std::int64_t>(indices.size())});
}

double distance(const pattern_fingerprint& a, const pattern_fingerprint& b) {
  return search::extent_distance(a.numbers(), b.numbers());
}

bool in_band(int r, int c) { return std::abs(r - c) <= 2; }
bool in_blocks(int r, int c) { return (r / 8 + c / 8) % 4 == 0; }

}  // namespace

TEST_CASE("lengths of rows, blocks and slices are counted") {
  const pattern_fingerprint p = measured(64, 64, in_blocks);
  CHECK(p.elements == 64 * 16);
  CHECK(p.mean_row == doctest::Approx(16));
  CHECK(p.spread == doctest::Approx(0));
  CHECK(p.longest == doctest::Approx(1));
  CHECK(p.empty == 0);
  CHECK(p.fill[0] == doctest::Approx(1));
  CHECK(p.fill[1] == doctest::Approx(1));
  CHECK(p.fill[2] == doctest::Approx(0.25));  // one of the four blocks of 8 in each
  CHECK(p.in_full_blocks[1] == doctest::Approx(1));
  CHECK(p.in_full_blocks[2] == doctest::Approx(0));
  CHECK(p.side_by_side[0] == doctest::Approx(1));
  CHECK(p.in_first[0] == doctest::Approx(0.25));
  CHECK(p.in_first[1] == doctest::Approx(1));
  CHECK(p.in_first_of_halves[0] == doctest::Approx(0.5));
  const pattern_fingerprint one = measured(16, 32, [](int r, int) { return r == 3; });
  CHECK(one.empty == doctest::Approx(15.0 / 16));
  CHECK(one.longest == doctest::Approx(16));
  CHECK(one.gini == doctest::Approx(15.0 / 16));
  CHECK(one.side_by_side[0] == doctest::Approx(8));
  CHECK(one.side_by_side[1] == doctest::Approx(16));
  CHECK(one.gap == doctest::Approx(1));
  const pattern_fingerprint band = measured(64, 64, in_band);
  CHECK(band.off_diagonal == doctest::Approx(1.2).epsilon(0.05));
}

TEST_CASE("indices of either width measure alike, and nothing has a fingerprint too") {
  CHECK(measured(64, 48, in_blocks).numbers() ==
        measured<std::int64_t>(64, 48, in_blocks).numbers());
  for (const std::int64_t n : measured(8, 8, [](int, int) { return false; }).numbers())
    CHECK(n >= 1);
}

TEST_CASE("patterns of a kind are nearer to each other than to those of another kind") {
  const pattern_fingerprint band = measured(256, 256, in_band),
                            longer = measured(288, 288, in_band),
                            blocks = measured(256, 256, in_blocks);
  CHECK(distance(band, band) == 0);
  CHECK(distance(band, longer) < 1);
  CHECK(distance(band, blocks) > 3);
  // blocks on the diagonal have 14, 34 and 74 elements, those beside it 3
  CHECK(band.text() ==
        "256 x 256, 4.98 elements a row (longest 5), 0 % empty rows, blocks of 4 42 % full, 8 21 % "
        "full, 16 11 % full");
}
