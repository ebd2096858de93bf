// Calls with sparse matrices in formats of ours.
#include <tilewright/tilewright.hpp>

#include <doctest/doctest.h>
#include <Eigen/Sparse>

#include <cstdlib>
#include <string>
#include <vector>

#include "sparse_frames.hpp"

using namespace tw;
using axes::i, axes::j, axes::k;
using namespace sparse_frames;

namespace {

/// As many elements in each row as its number says, modulo 6.
sparse_rows uneven_rows(int rows, int columns) {
  std::vector<Eigen::Triplet<float>> entries;
  for (int r = 0; r < rows; ++r)
    for (int e = 0; e < r % 6; ++e)
      entries.emplace_back(r, (r / 8 * 5 + e * 2) % columns, static_cast<float>(1 + (r + e) % 9));
  sparse_rows out(rows, columns);
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

/// Three diagonals, two of which do not end at a corner.
sparse_rows few_diagonals(int rows, int columns) {
  std::vector<Eigen::Triplet<float>> entries;
  for (int r = 0; r < rows; ++r)
    for (const int c : {r - 9, r, r + 2})
      if (c >= 0 && c < columns && (r + c) % 5 != 0)
        entries.emplace_back(r, c, static_cast<float>(1 + (r + c) % 9));
  sparse_rows out(rows, columns);
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

template <dim Columns>
constexpr auto scaled_product = kernel<"scaled_product">([](in<"alpha", float> alpha,
                                                            in<"A", float, "M", Columns> A,
                                                            in<"B", float, "K", "N"> B,
                                                            inout<"C", float, "M", "N"> C) {
  return C(i, j) = alpha * sum<k>(A(i, k) * B(k, j)) + C(i, j);
});

/// Tuned and not, on one thread and two, with new values; extents that do not fit.
template <dim Columns, class Matrix>
void check_calls(sparse_rows a) {
  Matrix m(a);
  const dense_rows b = dense_rows::Random(a.cols(), 19);
  for (const mode how : {mode::off, mode::now})
    for (const int threads : {1, 2}) {
      tuned_options o = short_tuning(how);
      o.threads = threads;
      const tuned op(scaled_product<Columns>, o);
      dense_rows c = dense_rows::Ones(a.rows(), 19);
      op(2.0f, m, b, c);
      const dense_rows ones = dense_rows::Ones(a.rows(), 19);
      CHECK(c.isApprox(2.0f * (a * b) + ones, 1e-5f));
      a.coeffs() *= -1.0f;
      m.refresh(a);
      c.setOnes();
      op(1.0f, m, b, c);
      CHECK(c.isApprox(a * b + ones, 1e-5f));
      CHECK_THROWS_AS(op(1.0f, m, dense_rows::Random(a.cols() + 1, 19).eval(), c), argument_error);
      dense_rows too_long(a.rows() + 1, 19);
      CHECK_THROWS_AS(op(1.0f, m, b, too_long), argument_error);
    }
}

/// A matrix without elements leaves what the epilogue adds to.
template <dim Columns, class Matrix>
void check_empty() {
  sparse_rows empty(9, 40);
  empty.makeCompressed();
  const tuned op(scaled_product<Columns>, short_tuning(mode::off));
  const dense_rows b = dense_rows::Random(40, 3);
  dense_rows c = dense_rows::Ones(9, 3);
  op(2.0f, Matrix(empty), b, c);
  CHECK(c == dense_rows::Ones(9, 3));
}

}  // namespace

TEST_CASE(
    "blocks: tuned and not, rows and columns that no block divides, new values, none at all") {
  check_calls<bsr<"K", 4>, bsr_matrix<float, 4>>(uneven_rows(117, 42));
  check_calls<bsr<"K", 8>, bsr_matrix<float, 8>>(uneven_rows(64, 80));
  check_empty<bsr<"K", 4>, bsr_matrix<float, 4>>();
}

TEST_CASE("rows of one width: tuned and not, new values, none at all") {
  check_calls<ell<"K", 5>, ell_matrix<float, 5>>(uneven_rows(117, 42));
  check_empty<ell<"K", 5>, ell_matrix<float, 5>>();
}

TEST_CASE("parts: tuned and not, each element in one of them, new values, none at all") {
  constexpr dim two = parts<bsr<"K", 4>, compressed<"K">>;
  constexpr dim three = parts<ell<"K", 1>, sell<"K", 8>, compressed<"K">>;
  check_calls<two, parted_matrix<float, two>>(uneven_rows(117, 42));
  check_calls<three, parted_matrix<float, three>>(uneven_rows(64, 80));
  check_empty<two, parted_matrix<float, two>>();
}

/// The product with a matrix of which one part has no element, by code that was made for it.
template <dim Columns>
void check_empty_part(const sparse_rows& a, const std::vector<std::int64_t>& shares) {
  parted_matrix<float, Columns> m(a, {.least_fill = 1});
  CHECK(m.shares() == shares);
  const dense_rows b = dense_rows::Random(a.cols(), 19);
  for (const mode how : {mode::off, mode::now}) {
    const tuned op(scaled_product<Columns>, short_tuning(how));
    dense_rows c = dense_rows::Ones(a.rows(), 19);
    op(2.0f, m, b, c);
    const dense_rows ones = dense_rows::Ones(a.rows(), 19);
    CHECK(c.isApprox(2.0f * (a * b) + ones, 1e-5f));
    const std::string text = op.report(2.0f, m, b, c);
    CAPTURE(text);
    CHECK(text.find(how == mode::off ? "default schedule" : "tuned by this process") !=
          std::string::npos);
  }
}

TEST_CASE("parts: code is made where one of them has no element") {
  sparse_rows blocks(16, 12), lines(16, 12);
  for (int r = 0; r < 16; ++r) {
    for (int c = 0; c < 12; ++c)
      if ((r / 4 + c / 4) % 2 == 0) blocks.insert(r, c) = static_cast<float>(1 + (r + 3 * c) % 5);
    lines.insert(r, (7 * r) % 12) = 2.0f;
  }
  blocks.makeCompressed();
  lines.makeCompressed();
  constexpr dim and_rows = parts<bsr<"K", 4>, compressed<"K">>;
  constexpr dim and_numbered = parts<bsr<"K", 4>, dcsr<"K">>;
  check_empty_part<and_rows>(blocks, {blocks.nonZeros(), 0});
  check_empty_part<and_numbered>(blocks, {blocks.nonZeros(), 0});
  check_empty_part<and_rows>(lines, {0, 16});
  check_empty_part<and_numbered>(lines, {0, 16});
}

TEST_CASE("rows with numbers: tuned and not, new values, none at all") {
  check_calls<dcsr<"K">, dcsr_matrix<float>>(uneven_rows(117, 42));
  check_empty<dcsr<"K">, dcsr_matrix<float>>();
}

TEST_CASE("columns: tuned and not, new values, none at all, and Eigen's as they stand") {
  check_calls<csc<"K">, csc_matrix<float>>(uneven_rows(117, 42));
  check_empty<csc<"K">, csc_matrix<float>>();
  const sparse_rows a = uneven_rows(117, 42);
  Eigen::SparseMatrix<float> by_columns = a;
  by_columns.makeCompressed();
  const tuned op(scaled_product<csc<"K">>, short_tuning(mode::off));
  const dense_rows b = dense_rows::Random(42, 5);
  dense_rows c = dense_rows::Zero(117, 5);
  op(1.0f, by_columns, b, c);
  CHECK(c.isApprox(a * b, 1e-5f));
  by_columns.innerIndexPtr()[0] = 117;
  std::string message;
  try {
    op(1.0f, by_columns, b, c);
  } catch (const argument_error& e) {
    message = e.what();
  }
  CAPTURE(message);
  CHECK(message.find("[0] is 117 in column 0; the rows are 0 to 116") != std::string::npos);
}

TEST_CASE("diagonals: tuned and not, new values, none at all") {
  check_calls<dia<"K">, dia_matrix<float>>(few_diagonals(117, 92));
  check_calls<dia<"K">, dia_matrix<float>>(few_diagonals(64, 80));
  check_empty<dia<"K">, dia_matrix<float>>();
}
