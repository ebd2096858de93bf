// Calls with results that are stored like a matrix in blocks, in rows of one width, of rows with numbers, or in parts.
#include <tilewright/tilewright.hpp>

#include <doctest/doctest.h>
#include <Eigen/Sparse>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <expr/sampled_kernels.hpp>

#include "sparse_frames.hpp"

using namespace tw;
using namespace sparse_frames;
using axes::i, axes::j, axes::d;
using sampled_kernels::attention, sampled_kernels::on_a, sampled_kernels::sampled;

namespace {

constexpr dim blocks_and_rows = parts<bsr<"N", 4>, ell<"N", 2>, dcsr<"N">>;

/// The product with values that another kernel has computed on the pattern, by the kinds of its elements.
template <dim Columns>
constexpr auto mixed = kernel<"mixed">([](in<"A", float, "M", Columns> A,
                                          in<"kind", std::int32_t, "M", on_a> kind,
                                          in<"S", float, "M", on_a> S, in<"w", float, "R"> w,
                                          in<"B", float, "N", "D"> B, out<"C", float, "M", "D"> C) {
  return C(i, d) = sum<j>(A(i, j) * S(i, j) * w(kind(i, j)) * B(j, d));
});
template <dim Columns>
constexpr auto updated =
    kernel<"updated">([](inout<"S", float, "M", on_a> S, in<"A", float, "M", Columns> A,
                         in<"x", float, "M"> x) { return S(i, j) = S(i, j) + x(i) * A(i, j); });

/// Blocks of 4 in every second row of blocks, single elements elsewhere.
sparse_rows blocks_beside_elements() {
  std::vector<Eigen::Triplet<float>> entries;
  for (int r = 0; r < 50; ++r)
    for (int c = 0; c < 40; ++c)
      if (r / 4 % 2 == 0 ? (c / 4 + r / 4) % 5 == 0 : (r * 7 + c * 3) % 11 == 0)
        entries.emplace_back(r, c, static_cast<float>((r * 5 + c) % 9 - 4));
  sparse_rows out(50, 40);
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

template <dim Columns, class Matrix>
void check_calls(const sparse_rows& a, const Matrix& m) {
  const dense_rows x = dense_rows::Random(a.rows(), 33), y = dense_rows::Random(a.cols(), 33),
                   b = dense_rows::Random(a.cols(), 5);
  const std::vector<float> expected = sampled_products(a, x, y), w{0.5f, 2.0f, -1.0f};
  std::vector<std::int32_t> kinds;
  for (std::size_t n = 0; n < expected.size(); ++n)
    kinds.push_back(static_cast<std::int32_t>(n % 3));
  dense_rows sums = dense_rows::Zero(a.rows(), 5);
  std::size_t at = 0;
  for (int r = 0; r < a.rows(); ++r)
    for (sparse_rows::InnerIterator e(a, r); e; ++e, ++at)
      sums.row(r) += e.value() * expected[at] * w[at % 3] * b.row(e.col());
  for (const mode how : {mode::off, mode::now})
    for (const int threads : {1, 2}) {
      values_like<float, Columns> s(m);
      const tuned op(sampled<Columns>, short_tuning(how, threads));
      op(m, x, y, s);
      std::vector<float> out(expected.size(), 99);
      s.store(out);
      check_equal(out, expected);

      values_like<std::int32_t, Columns> kind(m);
      kind.load(kinds);
      const tuned product(mixed<Columns>, short_tuning(how, threads));
      dense_rows c(a.rows(), 5);
      product(m, kind, s, w, b, c);
      CHECK(c.isApprox(sums, 1e-4f));

      const tuned add(updated<Columns>, short_tuning(how, threads));
      const std::vector<float> twice(static_cast<std::size_t>(a.rows()), 2);
      add(s, m, twice);
      s.store(out);
      for (std::size_t n = 0; n < out.size(); ++n)
        CHECK(out[n] == doctest::Approx(expected[n] + 2 * a.valuePtr()[n]).epsilon(1e-4));
    }
}

}  // namespace

TEST_CASE("results on a pattern in parts and in other formats go back to the order of elements") {
  const sparse_rows a = blocks_beside_elements();
  check_calls<blocks_and_rows>(a, parted_matrix<float, blocks_and_rows>(a, {.least_fill = 0.6}));
  check_calls<bsr<"N", 4>>(a, bsr_matrix<float, 4>(a));
  check_calls<ell<"N", 8>>(a, ell_matrix<float, 8>(a));
  check_calls<dcsr<"N">>(a, dcsr_matrix<float>(a));
}

TEST_CASE("attention over full blocks beside rows, and blocks that are not full are refused") {
  const sparse_rows a = blocks_beside_elements();
  constexpr dim stored = parts<bsr<"N", 4>, dcsr<"N">>;
  const dense_rows x = dense_rows::Random(50, 16), y = dense_rows::Random(40, 16),
                   v = dense_rows::Random(40, 8);
  dense_rows o(50, 8), expected(50, 8);
  for (const mode how : {mode::off, mode::now}) {
    const tuned rows(attention<compressed<"N">>, short_tuning(how));
    rows(a, x, y, v, expected);
    const parted_matrix<float, stored> m(a, {.least_fill = 1});
    const tuned op(attention<stored>, short_tuning(how));
    op(m, x, y, v, o);
    CHECK(o.isApprox(expected, 1e-4f));
  }
  const bsr_matrix<float, 4> padded(a);
  const tuned op(attention<bsr<"N", 4>>, short_tuning());
  const std::string text = refusal([&] { op(padded, x, y, v, o); });
  CAPTURE(text);
  CHECK(text.find("places that hold no element") != std::string::npos);
}

TEST_CASE("values of another matrix, and another number of values, are refused") {
  const sparse_rows a = blocks_beside_elements(), other = random_rows(50, 40, 3, 1);
  const bsr_matrix<float, 4> m(a), of_other(other, {.most_padding = 1e9});
  values_like<float, bsr<"N", 4>> s(of_other);
  const tuned op(sampled<bsr<"N", 4>>, short_tuning());
  const dense_rows x = dense_rows::Random(50, 3), y = dense_rows::Random(40, 3);
  CHECK(refusal([&] { op(m, x, y, s); }).find("\"A_nnz\"") != std::string::npos);
  std::vector<float> few(3);
  CHECK(refusal([&] { s.store(few); }) == "values_like: there are 3 values for " +
                                              std::to_string(other.nonZeros()) +
                                              " elements; each has one");
  CHECK(refusal([&] { s.load(few); }) != "");
}
