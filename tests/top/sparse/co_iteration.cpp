// Calls with several sparse matrices that meet in one kernel.
#include <tilewright/tilewright.hpp>

#include <doctest/doctest.h>
#include <Eigen/Sparse>

#include <string>
#include <vector>

#include "sparse_frames.hpp"

using namespace tw;
using axes::i, axes::j, axes::k;
using namespace sparse_frames;

namespace {

constexpr auto distance = kernel<"distance">(
    [](in<"A", float, "M", compressed<"K">> A, in<"B", float, "M", compressed<"K">> B,
       out<"y", float, "M"> y) { return y(i) = sum<k>(unite(abs(A(i, k) - B(i, k)))); });
constexpr auto weighted = kernel<"weighted">(
    [](in<"A", float, "M", compressed<"K">> A, in<"B", float, "M", compressed<"K">> B,
       in<"X", float, "K", "N"> X, out<"C", float, "M", "N"> C) {
      return C(i, j) = sum<k>(unite(A(i, k) + B(i, k)) * X(k, j));
    });
constexpr auto closed = kernel<"closed">(
    [](in<"A", float, "N", compressed<"N">> A, out<"T", float, "N", stored_like<"N", "A">> T) {
      return T(i, j) = A(i, j) * sum<k>(intersect(A(i, k) * A(j, k)));
    });
constexpr auto shifted = kernel<"shifted">(
    [](in<"A", float, "M", compressed<"N">> A, in<"X", float, "M", "N"> X,
       out<"C", float, "M", "N"> C) { return C(i, j) = X(i, j) - looked_up(A)(i, j); });

}  // namespace

TEST_CASE("rows of two sparse matrices are united, on patterns that change between calls") {
  for (const mode m : {mode::off, mode::now}) {
    const tuned op(distance, short_tuning(m, 2));
    for (const unsigned seed : {1u, 5u}) {
      const sparse_rows a = random_rows(40, 30, 4, seed), b = random_rows(40, 30, 3, seed + 1);
      Eigen::VectorXf y(40);
      op(a, b, y);
      const Eigen::VectorXf expected = (dense_rows(a) - dense_rows(b)).cwiseAbs().rowwise().sum();
      CHECK(y.isApprox(expected, 1e-5f));
    }
  }
}

TEST_CASE("a dense operand is read at merged coordinates, few and many of them") {
  for (const int columns : {2, 300}) {
    const sparse_rows a = random_rows(50, columns, 1, 4), b = random_rows(50, columns, 2, 9);
    const dense_rows x = dense_rows::Random(columns, 17);
    dense_rows c(50, 17);
    const tuned op(weighted, short_tuning(mode::now, 2));
    op(a, b, x, c);
    CHECK(c.isApprox((dense_rows(a) + dense_rows(b)) * x, 1e-4f));
  }
}

TEST_CASE("rows of one matrix are intersected for each of its elements: triangles of a graph") {
  sparse_rows a = random_rows(60, 60, 5, 3);
  a = sparse_rows(a.cwiseAbs()) + sparse_rows(a.cwiseAbs().transpose());
  for (Eigen::Index n = 0; n < a.nonZeros(); ++n) a.valuePtr()[n] = 1;
  a.prune([](Eigen::Index r, Eigen::Index c, float) { return r != c; });
  a.makeCompressed();
  std::vector<float> t(static_cast<std::size_t>(a.nonZeros()));
  const tuned op(closed, short_tuning(mode::now, 2));
  op(a, t);
  float corners = 0;
  for (const float one : t) corners += one;
  const dense_rows d(a);
  CHECK(corners == (d * d * d).trace());
}

TEST_CASE("an element that is looked up is zero where none is stored, in any format choice") {
  const sparse_rows a = random_rows(33, 21, 3, 7);
  const dense_rows x = dense_rows::Random(33, 21);
  dense_rows c(33, 21);
  tuned_options o = short_tuning(mode::now, 2);
  o.calls = 1000;
  const tuned op(shifted, o);
  op(a, x, c);
  CHECK(c.isApprox(x - dense_rows(a), 1e-5f));
}

TEST_CASE("each of several patterns is checked") {
  std::vector<std::int32_t> offsets{0, 2, 3}, good{0, 2, 1}, bad{0, 2, 5};
  std::vector<float> values{1, 2, 3}, y(2, 7);
  const tuned op(distance, short_tuning(mode::off, 2));
  CHECK_THROWS_WITH_AS(op(csr(offsets, good, values, 4), csr(offsets, bad, values, 4), y),
                       "distance: \"B_indices\"[2] is 5 in row 1; the columns are 0 to 3",
                       argument_error);
  CHECK(y == std::vector<float>{7, 7});
}
