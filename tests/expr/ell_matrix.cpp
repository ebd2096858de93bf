#include <tilewright/expr/formats/ell_matrix.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/expr/formats/csr_matrix.hpp>

using namespace tilewright;

namespace {

csr_matrix<float> short_rows(float sign = 1) {
  const std::vector<int> rows{0, 0, 2}, columns{1, 4, 3};
  const std::vector<float> values{sign * 1, sign * 2, sign * 3};
  return {3, 5, rows, columns, values};
}

template <class Call>
std::string width_refusal(const Call& call) {
  try {
    call();
  } catch (const argument_error& e) {
    return e.what();
  }
  return {};
}

}  // namespace

TEST_CASE("each row has as many places, of which the first hold its elements") {
  ell_matrix<float, 3> m(short_rows());
  CHECK(m.lengths() == std::vector<std::int32_t>{2, 0, 1});
  CHECK(m.indices() == std::vector<std::int32_t>{1, 4, 4, 0, 0, 0, 3, 3, 3});
  CHECK(m.values() == std::vector<float>{1, 2, 0, 0, 0, 0, 3, 0, 0});
  CHECK(m.padding() == doctest::Approx(6.0 / 9));
  m.refresh(short_rows(-1));
  CHECK(m.values() == ell_matrix<float, 3>(short_rows(-1)).values());
}

TEST_CASE("a row that is longer than its places is named") {
  CHECK(width_refusal([] { ell_matrix<float, 1> m(short_rows()); }) ==
        "ell_matrix: row 0 has 2 elements, and there are 1 places; widen ell<\"K\", 1>, or declare "
        "it compressed");
}

TEST_CASE("places beyond what indices count are refused before any memory is taken") {
  const std::vector<std::int32_t> offsets(1'000'001, 0), none;
  const std::vector<float> no_values;
  CHECK(width_refusal([&] {
          ell_matrix<float, 4096> m(csr(offsets, none, no_values, 3));
        }).find("ell_matrix: there are more places than the indices count") == 0);
}
