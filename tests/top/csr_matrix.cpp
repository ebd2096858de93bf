// Calls with matrices that are made of coordinates.
#include <tilewright/expr/formats/csr_matrix.hpp>
#include <tilewright/tilewright.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace tw;
using axes::i, axes::j, axes::k;

TEST_CASE("a matrix of coordinates is an argument, and takes new values") {
  constexpr auto spmm = kernel<"spmm">(
      [](in<"A", float, "M", compressed<"K">> A, in<"B", float, "K", "N"> B,
         out<"C", float, "M", "N"> C) { return C(i, j) = sum<k>(A(i, k) * B(k, j)); });
  tuned_options o;
  o.mode = mode::off;
  o.database = ":memory:";
  const tuned op(spmm, o);
  const std::vector<int> rows{2, 0, 2}, columns{1, 1, 0};
  csr_matrix<float> a(3, 2, rows, columns, std::vector<float>{1, 2, 3});
  const std::vector<float> b{1, 10, 100, 1000};
  std::vector<float> c(6, 99.0f);
  op(a, view(b.data(), {2, 2}), view(c.data(), {3, 2}));
  CHECK(c == std::vector<float>{200, 2000, 0, 0, 103, 1030});
  a.refresh(std::vector<float>{0, 1, 2});
  op(a, view(b.data(), {2, 2}), view(c.data(), {3, 2}));
  CHECK(c == std::vector<float>{100, 1000, 0, 0, 2, 20});
}
