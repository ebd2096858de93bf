// Calls with matrices that are made of coordinates.
#include <tilewright/expr/formats/csr_matrix.hpp>
#include <tilewright/tilewright.hpp>

#include <doctest/doctest.h>
#include <Eigen/Sparse>

#include <span>
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

TEST_CASE("rows are made of a matrix that is stored by columns, and of a map of one") {
  constexpr auto spmv =
      kernel<"spmv">([](in<"A", float, "M", compressed<"K">> A, in<"x", float, "K"> x,
                        out<"y", float, "M"> y) { return y(i) = sum<k>(A(i, k) * x(k)); });
  tuned_options o;
  o.mode = mode::off;
  o.database = ":memory:";
  const tuned op(spmv, o);
  Eigen::SparseMatrix<float> m(4, 3);
  m.insert(3, 0) = 1;
  m.insert(0, 2) = 2;
  m.insert(3, 2) = 3;
  CHECK_THROWS_WITH_AS(
      csr_matrix<float>{m},
      "csr_matrix: the sparse matrix is not compressed; call its makeCompressed() before",
      argument_error);
  m.makeCompressed();
  csr_matrix<float> rows(m);
  const Eigen::VectorXf x = Eigen::VectorXf::Random(3);
  Eigen::VectorXf y(4);
  op(rows, x, y);
  CHECK(y.isApprox(m * x));
  m *= 2;
  rows.refresh(std::span(m.valuePtr(), 3));
  op(rows, x, y);
  CHECK(y.isApprox(m * x));
  const Eigen::Map<const Eigen::SparseMatrix<float>> map(4, 3, 3, m.outerIndexPtr(),
                                                         m.innerIndexPtr(), m.valuePtr());
  op(csr_matrix<float>(map), x, y);
  CHECK(y.isApprox(m * x));
  std::vector<int> offsets{0, 1, 1, 2}, inner{3, 0, 3};
  std::vector<float> values{1, 2, 3};
  const Eigen::Map<const Eigen::SparseMatrix<float>> short_of(4, 3, 3, offsets.data(), inner.data(),
                                                              values.data());
  CHECK_THROWS_WITH_AS(csr_matrix<float>{short_of},
                       "csr_matrix: offset 3 of the columns is 2 after 1; they begin with 0, never "
                       "decrease, and end with the number of elements",
                       argument_error);
}
