// Calls with sparse matrices.
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

constexpr auto spmm =
    kernel<"spmm">([](in<"A", float, "M", compressed<"K">> A, in<"B", float, "K", "N"> B,
                      out<"C", float, "M", "N"> C) { return C(i, j) = sum<k>(A(i, k) * B(k, j)); });
constexpr auto spmm_columns =
    kernel<"spmm">([](in<"A", float, "M", csc<"K">> A, in<"B", float, "K", "N"> B,
                      out<"C", float, "M", "N"> C) { return C(i, j) = sum<k>(A(i, k) * B(k, j)); });
constexpr auto spmv_wide =
    kernel<"spmv">([](in<"A", double, "M", compressed<"K", std::int64_t>> A, in<"x", double, "K"> x,
                      out<"y", double, "M"> y) { return y(i) = sum<k>(A(i, k) * x(k)); });
constexpr auto scaled =
    kernel<"scaled">([](in<"alpha", float> alpha, in<"A", float, "M", compressed<"K">> A,
                        in<"B", float, "K", "N"> B, inout<"C", float, "M", "N"> C) {
      return C(i, j) = alpha * sum<k>(A(i, k) * B(k, j)) + C(i, j);
    });

}  // namespace

TEST_CASE("a product with Eigen's sparse matrix, tuned and not, in all orders of the dense ones") {
  const sparse_rows a = random_rows(50, 40, 4, 1);
  for (const mode m : {mode::off, mode::now}) {
    const tuned op(spmm, short_tuning(m));
    const Eigen::MatrixXf b = Eigen::MatrixXf::Random(40, 19);
    const dense_rows b_rows = b;
    const Eigen::MatrixXf expected = a * b;
    Eigen::MatrixXf c(50, 19);
    dense_rows c_rows(50, 19);
    op(a, b, c);
    CHECK(c.isApprox(expected, 1e-5f));
    c.setZero();
    op(a, b_rows, c);
    CHECK(c.isApprox(expected, 1e-5f));
    op(a, b_rows, c_rows);
    CHECK(c_rows.isApprox(expected, 1e-5f));
    CHECK(op.report(a, b_rows, c_rows).find("spmm at") != std::string::npos);
  }
}

TEST_CASE("Eigen's maps of arrays are taken as its matrices are") {
  const sparse_rows a = random_rows(30, 20, 5, 6);
  const Eigen::Map<const sparse_rows> map(a.rows(), a.cols(), a.nonZeros(), a.outerIndexPtr(),
                                          a.innerIndexPtr(), a.valuePtr());
  const dense_rows b = dense_rows::Random(20, 8);
  dense_rows c(30, 8);
  const tuned op(spmm, short_tuning());
  op(map, b, c);
  CHECK(c.isApprox(a * b, 1e-5f));
  sparse_rows changed = a;
  Eigen::Map<sparse_rows> writable(changed.rows(), changed.cols(), changed.nonZeros(),
                                   changed.outerIndexPtr(), changed.innerIndexPtr(),
                                   changed.valuePtr());
  writable.coeffs() *= -2.0f;
  op(writable, b, c);
  CHECK(c.isApprox(-2.0f * (a * b), 1e-5f));
}

TEST_CASE("rows, indices of 64 bits, scalars and outputs that are updated") {
  const sparse_rows a = random_rows(30, 20, 5, 2);
  const dense_rows b = dense_rows::Random(20, 8);
  dense_rows c = dense_rows::Random(30, 8);
  const dense_rows expected = 0.5f * (a * b) + c;
  tuned op(scaled, short_tuning());
  op(0.5f, a, b, c);
  CHECK(c.isApprox(expected, 1e-5f));

  const Eigen::SparseMatrix<double, Eigen::RowMajor, std::int64_t> wide = a.cast<double>();
  const Eigen::VectorXd x = Eigen::VectorXd::Random(20);
  Eigen::VectorXd y(30);
  tuned vector_op(spmv_wide, short_tuning());
  vector_op(wide, x, y);
  CHECK(y.isApprox(wide * x));
}

TEST_CASE("maps of Eigen's sparse matrices are arguments, by rows and by columns") {
  sparse_rows a = random_rows(30, 20, 5, 7);
  const dense_rows b = dense_rows::Random(20, 8);
  dense_rows c(30, 8);
  const Eigen::Map<sparse_rows> rows(a.rows(), a.cols(), a.nonZeros(), a.outerIndexPtr(),
                                     a.innerIndexPtr(), a.valuePtr());
  const tuned op(spmm, short_tuning());
  op(rows, b, c);
  CHECK(c.isApprox(a * b, 1e-5f));
  const Eigen::Map<const sparse_rows> fixed(a.rows(), a.cols(), a.nonZeros(), a.outerIndexPtr(),
                                            a.innerIndexPtr(), a.valuePtr());
  c.setZero();
  op(fixed, b, c);
  CHECK(c.isApprox(a * b, 1e-5f));
  a.valuePtr()[0] = 3;  // what a map shows may change
  op(fixed, b, c);
  CHECK(c.isApprox(a * b, 1e-5f));

  using sparse_columns = Eigen::SparseMatrix<float>;
  const sparse_columns by_columns = a;
  const Eigen::Map<const sparse_columns> columns(by_columns.rows(), by_columns.cols(),
                                                 by_columns.nonZeros(), by_columns.outerIndexPtr(),
                                                 by_columns.innerIndexPtr(), by_columns.valuePtr());
  const tuned of_columns(spmm_columns, short_tuning());
  c.setZero();
  of_columns(columns, b, c);
  CHECK(c.isApprox(a * b, 1e-5f));
}

TEST_CASE("offsets, indices and values; new values and new patterns on the same op") {
  std::vector<std::int32_t> offsets{0, 2, 2, 3}, indices{0, 2, 1};
  std::vector<float> values{1, 2, 3};
  const dense_rows b = dense_rows::Identity(3, 3);
  dense_rows c(3, 3), expected(3, 3);
  const tuned op(spmm, short_tuning());
  op(csr(offsets, indices, values, 3), b, c);
  expected << 1, 0, 2, 0, 0, 0, 0, 3, 0;
  CHECK(c == expected);
  values = {4, 5, 6};
  op(csr(offsets, indices, values, 3), b, c);
  expected << 4, 0, 5, 0, 0, 0, 0, 6, 0;
  CHECK(c == expected);
  offsets = {0, 0, 1, 3};
  indices = {1, 0, 2};
  op(csr(offsets, indices, values, 3), b, c);
  expected << 0, 0, 0, 0, 4, 0, 5, 0, 6;
  CHECK(c == expected);
}

TEST_CASE("matrices without elements, rows or columns") {
  const tuned op(spmm, short_tuning());
  sparse_rows none(4, 3);
  none.makeCompressed();
  const dense_rows b = dense_rows::Random(3, 2);
  dense_rows c = dense_rows::Constant(4, 2, 7);
  op(none, b, c);
  CHECK(c.isZero());
  const sparse_rows no_rows(0, 3);
  dense_rows nothing(0, 2);
  op(no_rows, b, nothing);
  const sparse_rows no_columns(4, 0);
  const dense_rows no_b(0, 2);
  c.setConstant(7);
  op(no_columns, no_b, c);
  CHECK(c.isZero());
}

TEST_CASE(
    "what is wrong with a pattern is said by array, position and value, and nothing is written") {
  const dense_rows b = dense_rows::Random(3, 2);
  dense_rows c = dense_rows::Constant(2, 2, 7);
  const tuned op(spmm, short_tuning());
  const auto wrong = [&](std::vector<std::int32_t> offsets, std::vector<std::int32_t> indices) {
    const std::vector<float> values(indices.size(), 1.0f);
    return refusal([&] { op(csr(offsets, indices, values, 3), b, c); });
  };
  CHECK(wrong({0, 1, 2}, {0, 2}) == "");
  c.setConstant(7);
  CHECK(wrong({1, 1, 2}, {0, 2}) == "spmm: \"A_indptr\"[0] is 1; offsets begin with 0");
  CHECK(wrong({0, 3, 2}, {0, 2}) == "spmm: \"A_indptr\"[2] is 2 after 3; offsets never decrease");
  CHECK(wrong({0, 1, 1}, {0, 2}) ==
        "spmm: \"A_indptr\"[2] is 1, but there are 2 elements; the last offset is their number");
  CHECK(wrong({0, 1, 2}, {0, 3}) == "spmm: \"A_indices\"[1] is 3 in row 1; the columns are 0 to 2");
  CHECK(wrong({0, 1, 2}, {-1, 2}) ==
        "spmm: \"A_indices\"[0] is -1 in row 0; the columns are 0 to 2");
  CHECK(wrong({0, 2, 2}, {2, 0}) ==
        "spmm: \"A_indices\"[1] is 0 in row 0 after 2; the columns of a row rise, sort them");
  CHECK(wrong({0, 2, 2}, {1, 1}) ==
        "spmm: \"A_indices\"[1] is 1 in row 0 after 1; no column occurs twice in a row, add up "
        "what belongs to one element");
  CHECK(c == dense_rows::Constant(2, 2, 7));
  CHECK(wrong({}, {}) == "csr: there are no offsets; a matrix of n rows has n + 1 of them");
  const std::vector<std::int32_t> offsets{0, 1, 2}, indices{0, 2};
  CHECK(refusal([&] { csr(offsets, indices, std::vector<float>{1}, 3); }) ==
        "csr: there are 2 indices and 1 values; each element has one of each");
}

TEST_CASE("extents of a sparse matrix agree with those of the others") {
  const sparse_rows a = random_rows(4, 5, 2, 3);
  const dense_rows b = dense_rows::Random(6, 2);
  dense_rows c(4, 2), short_c(3, 2);
  const tuned op(spmm, short_tuning());
  CHECK(refusal([&] { op(a, b, c); }) ==
        "spmm: extent \"K\" is 5 at dimension 1 of \"A\" and 6 at dimension 0 of \"B\"; "
        "they must agree");
  const dense_rows fits = dense_rows::Random(5, 2);
  CHECK(refusal([&] { op(a, fits, short_c); }).find("extent \"M\" is 4") != std::string::npos);
  sparse_rows open(4, 5);
  open.insert(1, 1) = 2;
  CHECK(refusal([&] { op(open, fits, c); }) ==
        "the sparse matrix given for \"A\" is not compressed; call its makeCompressed() before");
}

TEST_CASE(
    "a pattern that changes in place is checked again where a sample shows it, or at every call") {
  std::vector<std::int32_t> offsets{0, 1, 2}, indices{0, 2};
  const std::vector<float> values{1, 1};
  const dense_rows b = dense_rows::Random(3, 2);
  dense_rows c(2, 2);
  tuned_options always = short_tuning();
  always.patterns = pattern_check::every_call;
  for (const tuned_options& o : {short_tuning(), always}) {
    const tuned op(spmm, o);
    indices[1] = 2;
    op(csr(offsets, indices, values, 3), b, c);
    indices[1] = 9;
    CHECK(refusal([&] { op(csr(offsets, indices, values, 3), b, c); }) != "");
  }
}

TEST_CASE("rows side by side: tuned and not, new values, two threads, epilogues, none at all") {
  constexpr auto scaled_sell = kernel<"scaled_sell">(
      [](in<"alpha", float> alpha, in<"A", float, "M", sell<"K", 8>> A, in<"x", float, "K"> x,
         inout<"y", float, "M"> y) { return y(i) = alpha * sum<k>(A(i, k) * x(k)) + y(i); });
  sparse_rows a = random_rows(117, 40, 4, 11);
  sell_matrix<float> rows(a);
  const Eigen::VectorXf x = Eigen::VectorXf::Random(40);
  for (const mode m : {mode::off, mode::now})
    for (const int threads : {1, 2}) {
      tuned_options o = short_tuning(m);
      o.threads = threads;
      const tuned op(scaled_sell, o);
      Eigen::VectorXf y = Eigen::VectorXf::Ones(117);
      op(2.0f, rows, x, y);
      CHECK(y.isApprox(2.0f * (a * x) + Eigen::VectorXf::Ones(117), 1e-5f));
      a.coeffs() *= 3.0f;
      rows.refresh(a);
      y.setOnes();
      op(1.0f, rows, x, y);
      CHECK(y.isApprox(a * x + Eigen::VectorXf::Ones(117), 1e-5f));
    }
  const tuned op(scaled_sell, short_tuning());
  sparse_rows empty(9, 40);
  empty.makeCompressed();
  Eigen::VectorXf y = Eigen::VectorXf::Ones(9);
  op(2.0f, sell_matrix<float>(empty), x, y);
  CHECK(y == Eigen::VectorXf::Ones(9));
  const Eigen::VectorXf wrong = Eigen::VectorXf::Random(41);
  CHECK_FALSE(refusal([&] { op(2.0f, sell_matrix<float>(empty), wrong, y); }).empty());
}
