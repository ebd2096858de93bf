#include <tilewright/expr/formats/kept_pattern.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/expr/formats/bsr_matrix.hpp>
#include <tilewright/expr/formats/csc_matrix.hpp>
#include <tilewright/expr/formats/csr_matrix.hpp>
#include <tilewright/expr/formats/dcsr_matrix.hpp>
#include <tilewright/expr/formats/dia_matrix.hpp>
#include <tilewright/expr/formats/ell_matrix.hpp>
#include <tilewright/expr/formats/parted_matrix.hpp>
#include <tilewright/expr/formats/sell_matrix.hpp>

using namespace tilewright;

namespace {

/// 5 x 6 with 7 elements, two of its rows empty.
struct some_rows {
  std::vector<std::int32_t> offsets{0, 3, 3, 5, 5, 7}, indices{0, 2, 5, 1, 3, 2, 4};
  std::vector<float> values{1, 2, 3, 4, 5, 6, 7};
  auto view() const { return csr(offsets, indices, values, 6); }
};

template <class Matrix>
std::string pattern_refusal(Matrix& m, const some_rows& rows) {
  try {
    m.refresh(rows.view());
  } catch (const argument_error& e) {
    return e.what();
  }
  return {};
}

template <class Matrix>
std::vector<float> all_values(const Matrix& m) {
  if constexpr (requires { m.template part<0>(); }) {
    std::vector<float> out = m.template part<0>().values();
    const auto& rest = m.template part<1>().values();
    out.insert(out.end(), rest.begin(), rest.end());
    return out;
  } else {
    return m.values();
  }
}

/// @param maker what messages call it
template <class Matrix>
void check_other_patterns(const std::string& maker) {
  CAPTURE(maker);
  const some_rows was;
  Matrix m(was.view());
  const std::vector<float> before = all_values(m);
  const std::string begin = maker + ": refresh is given another pattern, ",
                    end = "; make another " + maker + " of it";

  some_rows other = was;
  for (float& v : other.values) v = -v;
  other.indices[4] = 4;
  CHECK(pattern_refusal(m, other) == begin + "\"indices\"[4] is 4 and was 3 in row 2" + end);
  CHECK(all_values(m) == before);

  other.indices = was.indices;
  other.offsets = {0, 3, 4, 5, 5, 7};  // element 3 goes one row up
  CHECK(pattern_refusal(m, other) == begin + "\"offsets\"[2] is 4 and was 3" + end);
  CHECK(all_values(m) == before);

  other.offsets = {0, 3, -7, 5, 5, 7};  // no pattern at all
  CHECK(pattern_refusal(m, other) == begin + "\"offsets\"[2] is -7 and was 3" + end);
  CHECK(all_values(m) == before);

  other.offsets = was.offsets;
  CHECK(pattern_refusal(m, other).empty());
  CHECK(all_values(m) == all_values(Matrix(other.view())));

  other.indices[4] = 4;  // a program that breaks its promise gets what it asks for
  m.refresh(other.view(), same_pattern::promised);
}

}  // namespace

TEST_CASE("another pattern with as many elements is refused, and no value is taken") {
  check_other_patterns<bsr_matrix<float, 2>>("bsr_matrix");
  check_other_patterns<sell_matrix<float, 4>>("sell_matrix");
  check_other_patterns<ell_matrix<float, 3>>("ell_matrix");
  check_other_patterns<dcsr_matrix<float>>("dcsr_matrix");
  check_other_patterns<csc_matrix<float>>("csc_matrix");
  check_other_patterns<dia_matrix<float>>("dia_matrix");
  check_other_patterns<parted_matrix<float, parts<bsr<"K", 2>, compressed<"K">>>>("parted_matrix");
  check_other_patterns<parted_matrix<float, parts<ell<"K", 1>, dcsr<"K">>>>("parted_matrix");
}

TEST_CASE("a pattern of 64-bit indices is compared, too") {
  const std::vector<std::int64_t> offsets{0, 1, 2}, indices{0, 1};
  std::vector<std::int64_t> other = indices;
  other[1] = 0;
  const std::vector<double> values{1, 2};
  sell_matrix<double, 2, std::int64_t> m(csr(offsets, indices, values, 2));
  CHECK_THROWS_WITH_AS(m.refresh(csr(offsets, other, values, 2)),
                       "sell_matrix: refresh is given another pattern, \"indices\"[1] is 0 and was "
                       "1 in row 1; make another sell_matrix of it",
                       argument_error);
}

TEST_CASE("a matrix without elements, or without rows, is refreshed by itself") {
  const std::vector<std::int32_t> none, begin{0}, two_rows{0, 0, 0};
  const std::vector<float> no_values;
  dcsr_matrix<float> empty(csr(two_rows, none, no_values, 3));
  empty.refresh(csr(two_rows, none, no_values, 3));
  sell_matrix<float> no_rows(csr(begin, none, no_values, 3));
  no_rows.refresh(csr(begin, none, no_values, 3));
  CHECK(no_rows.nonzeros() == 0);
}
