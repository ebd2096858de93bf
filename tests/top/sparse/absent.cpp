// Calls with sparse matrices whose absent elements count as another value than 0.
#include <tilewright/tilewright.hpp>

#include <doctest/doctest.h>
#include <Eigen/Sparse>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "sparse_frames.hpp"

using namespace tw;
using axes::i, axes::j, axes::k;
using namespace sparse_frames;

namespace {

using graph = sparse_rows;
using table = dense_rows;

/// Every third row is empty, and one is full; elements are small integers.
graph random_graph(int rows, int columns, int each, unsigned seed, int full_row = -1) {
  std::srand(seed);
  std::vector<Eigen::Triplet<float>> entries;
  for (int r = 0; r < rows; ++r) {
    const int count = r == full_row ? columns : r % 3 == 1 ? 0 : std::rand() % (each + 1);
    for (int e = 0; e < count; ++e)
      entries.emplace_back(r, r == full_row ? e : std::rand() % columns,
                           static_cast<float>(std::rand() % 50 - 10));
  }
  graph out(rows, columns);
  out.setFromTriplets(entries.begin(), entries.end(), [](float, float b) { return b; });
  out.makeCompressed();
  return out;
}

/// Shapes and rows at the edge, and random ones.
std::vector<graph> many_graphs() {
  return {random_graph(40, 33, 5, 1, 7), random_graph(1, 30, 9, 2), random_graph(30, 1, 1, 3),
          random_graph(16, 16, 0, 4),    random_graph(9, 13, 6, 5), random_graph(70, 65, 20, 6)};
}

table dense_of(const graph& a, float absent) {
  table out = table::Constant(a.rows(), a.cols(), absent);
  for (Eigen::Index r = 0; r < a.outerSize(); ++r)
    for (graph::InnerIterator at(a, r); at; ++at) out(r, at.col()) = at.value();
  return out;
}

table small_numbers(Eigen::Index rows, Eigen::Index columns) {
  table out(rows, columns);
  for (Eigen::Index n = 0; n < out.size(); ++n)
    out.data()[n] = static_cast<float>(n * 37 % 23) - 11;
  return out;
}

/// Shortest ways over one edge.
table shortest(const graph& a, const table& x) {
  const table all = dense_of(a, std::numeric_limits<float>::infinity());
  table out = table::Constant(a.rows(), x.cols(), std::numeric_limits<float>::infinity());
  for (Eigen::Index r = 0; r < all.rows(); ++r)
    for (Eigen::Index c = 0; c < x.cols(); ++c)
      for (Eigen::Index m = 0; m < all.cols(); ++m)
        out(r, c) = std::min(out(r, c), all(r, m) + x(m, c));
  return out;
}

template <dim Columns>
constexpr auto ways = kernel<"ways">([](in<"A", float, "M", Columns> A, in<"x", float, "K", "N"> x,
                                        out<"y", float, "M", "N"> y) {
  return y(i, j) = min<k>(A(i, k) + x(k, j));
});

constexpr dim rows_then_rest = parts<ell<"K", 2>, dcsr<"K">>;
constexpr dim blocks_then_rest = parts<bsr<"K", 4>, compressed<"K">>;

/// In the format that `convert` makes, tuned and not, and with new values.
template <dim Columns, class Convert>
void check_ways(const Convert& convert) {
  const tuned off(ways<absent_as<Columns, infinity>>, short_tuning(mode::off));
  const tuned now(ways<absent_as<Columns, infinity>>, short_tuning(mode::now));
  int number = 0;
  for (graph a : many_graphs()) {
    INFO("graph ", number);
    auto stored = convert(a);
    const table x = small_numbers(a.cols(), 11);
    table y(a.rows(), 11);
    off(stored, x, y);
    CHECK(y == shortest(a, x));
    a.coeffs() *= -0.5f;
    if constexpr (requires { stored.refresh(a); })
      stored.refresh(a);
    else
      stored = a;
    y.setConstant(7);
    (number++ == 0 ? now : off)(stored, x, y);
    CHECK(y == shortest(a, x));
  }
}

}  // namespace

TEST_CASE("shortest ways in compressed rows and columns") {
  check_ways<compressed<"K">>([](const graph& a) { return a; });
  check_ways<dcsr<"K">>([](const graph& a) { return dcsr_matrix<float>(a); });
  check_ways<csc<"K">>([](const graph& a) { return csc_matrix<float>(a); });
}

TEST_CASE("shortest ways in formats that pad and leave padding out") {
  check_ways<sell<"K", 8>>(
      [](const graph& a) { return sell_matrix<float, 8>(a, {.most_padding = 1e9}); });
  check_ways<ell<"K", 65>>([](const graph& a) { return ell_matrix<float, 65>(a); });
  check_ways<rows_then_rest>([](const graph& a) {
    return parted_matrix<float, rows_then_rest>(a, {.most_padding = 1e9});
  });
}

TEST_CASE("shortest ways in formats whose padding is read") {
  check_ways<bsr<"K", 4>>([](const graph& a) {
    return bsr_matrix<float, 4>(a, {.most_padding = 1e9, .absent = infinity});
  });
  check_ways<dia<"K">>([](const graph& a) {
    return dia_matrix<float>(a, {.most_padding = 1e9, .absent = infinity});
  });
  check_ways<blocks_then_rest>([](const graph& a) {
    return parted_matrix<float, blocks_then_rest>(
        a, {.least_fill = 0.1, .most_padding = 1e9, .absent = infinity});
  });
}

TEST_CASE("a matrix that pads with another value than its parameter counts is refused") {
  const graph a = random_graph(20, 20, 4, 9);
  const table x = small_numbers(20, 3);
  table y = table::Constant(20, 3, 5);
  const tuned least(ways<absent_as<bsr<"K", 4>, infinity>>, short_tuning(mode::off));
  const bsr_matrix<float, 4> zeros(a, {.most_padding = 1e9});
  const std::string why = refusal([&] { least(zeros, x, y); });
  CAPTURE(why);
  CHECK(why.find("the matrix given for \"A\"") != std::string::npos);
  CHECK(why.find("counts as absent, which is inf") != std::string::npos);
  CHECK((y.array() == 5).all());
  constexpr auto product = kernel<"product">(
      [](in<"A", float, "M", dia<"K">> A, in<"B", float, "K", "N"> B, out<"C", float, "M", "N"> C) {
        return C(i, j) = sum<k>(A(i, k) * B(k, j));
      });
  const tuned total(product, short_tuning(mode::off));
  const dia_matrix<float> endless(a, {.most_padding = 1e9, .absent = infinity});
  CHECK(refusal([&] { total(endless, x, y); }).find("which is 0; make it") != std::string::npos);
}

TEST_CASE("what is absent is read by look-ups and dense walks") {
  constexpr auto weighted = kernel<"weighted">(
      [](in<"A", float, "M", absent_as<compressed<"K">, 2.5f>> A, in<"x", float, "K"> x,
         out<"y", float, "M"> y, out<"least", float, "M"> least) {
        return blocks(y(i) = sum<k>(looked_up(A)(i, k) * x(k)),
                      least(i) = min<k>(looked_up(A)(i, k) - x(k)));
      });
  for (const mode m : {mode::off, mode::now}) {
    const tuned op(weighted, short_tuning(m));
    for (const graph& a : many_graphs()) {
      const table all = dense_of(a, 2.5f), x = small_numbers(a.cols(), 1);
      Eigen::VectorXf y(a.rows()), least(a.rows()), in = x.col(0);
      op(a, in, y, least);
      CHECK(y.isApprox(all * in, 1e-5f));
      const Eigen::VectorXf expected = (all.rowwise() - in.transpose()).rowwise().minCoeff();
      CHECK(least == expected);
      if (m == mode::now) break;
    }
  }
}

TEST_CASE("unions take what is absent of each") {
  constexpr auto apart = kernel<"apart">(
      [](in<"A", float, "M", absent_as<compressed<"K">, 2.5f>> A,
         in<"B", float, "M", absent_as<compressed<"K">, 2.5f>> B,
         out<"y", float, "M"> y) { return y(i) = sum<k>(unite(abs(A(i, k) - B(i, k)))); });
  constexpr auto both = kernel<"both">(
      [](in<"A", float, "M", absent_as<compressed<"K">, infinity>> A,
         in<"B", float, "M", absent_as<compressed<"K">, infinity>> B,
         out<"y", float, "M"> y) { return y(i) = min<k>(unite(A(i, k) + B(i, k))); });
  const tuned difference(apart, short_tuning(mode::off));
  const tuned ways_of_two(both, short_tuning(mode::off));
  for (const graph& a : many_graphs()) {
    graph b = random_graph(static_cast<int>(a.rows()), static_cast<int>(a.cols()), 6, 17);
    Eigen::VectorXf y(a.rows());
    difference(a, b, y);
    const Eigen::VectorXf sums = (dense_of(a, 2.5f) - dense_of(b, 2.5f)).cwiseAbs().rowwise().sum();
    CHECK(y.isApprox(sums, 1e-5f));
    ways_of_two(a, b, y);
    constexpr float inf = std::numeric_limits<float>::infinity();
    const Eigen::VectorXf least = (dense_of(a, inf) + dense_of(b, inf)).rowwise().minCoeff();
    CHECK(y == least);
  }
}

TEST_CASE("the widest way, integers, and wide indices") {
  constexpr auto widest = kernel<"widest">(
      [](in<"A", std::int32_t, "M", absent_as<compressed<"K", std::int64_t>, -infinity>> A,
         in<"x", std::int32_t, "K"> x,
         out<"y", std::int32_t, "M"> y) { return y(i) = max<k>(min(A(i, k), x(k))); });
  const tuned op(widest, short_tuning(mode::off));
  for (const graph& a : many_graphs()) {
    const Eigen::SparseMatrix<std::int32_t, Eigen::RowMajor, std::int64_t> wide =
        a.cast<std::int32_t>();
    std::vector<std::int32_t> x(static_cast<std::size_t>(a.cols())),
        y(static_cast<std::size_t>(a.rows()));
    for (std::size_t n = 0; n < x.size(); ++n) x[n] = static_cast<std::int32_t>(n * 13 % 40) - 9;
    op(wide, x, y);
    for (Eigen::Index r = 0; r < a.rows(); ++r) {
      std::int32_t expected = std::numeric_limits<std::int32_t>::lowest();
      for (graph::InnerIterator at(a, r); at; ++at)
        expected = std::max(expected, std::min(static_cast<std::int32_t>(at.value()),
                                               x[static_cast<std::size_t>(at.col())]));
      CHECK(y[static_cast<std::size_t>(r)] == expected);
    }
  }
}

TEST_CASE("what a temporary on a pattern counts as absent is its own") {
  constexpr auto longer = kernel<"longer">(
      [](in<"A", float, "M", compressed<"N">> A, in<"x", float, "N"> x, out<"y", float, "M"> y) {
        temp<"s", float, "M", absent_as<stored_like<"N", "A">, infinity>> s;
        return blocks(s(i, j) = A(i, j) * A(i, j), y(i) = min<j>(s(i, j) + x(j)));
      });
  const tuned op(longer, short_tuning(mode::off));
  for (const graph& a : many_graphs()) {
    const table x = small_numbers(a.cols(), 1);
    const graph squares = a.cwiseProduct(a);
    Eigen::VectorXf y(a.rows()), in = x.col(0);
    op(a, in, y);
    CHECK(y == shortest(squares, x).col(0));
  }
}

TEST_CASE("the choice of a format knows what is absent") {
  std::vector<Eigen::Triplet<float>> entries;
  for (int r = 0; r < 96; ++r)
    for (int c = 0; c < 80; ++c)
      if ((r / 8 * 5 + c / 8 * 3) % 4 == 0)
        entries.emplace_back(r, c, static_cast<float>(1 + (r * 3 + c) % 7));
  graph a(96, 80);
  a.setFromTriplets(entries.begin(), entries.end());
  tuned_options o = short_tuning(mode::now);
  o.calls = 1e9;
  o.matrices_change = false;
  const table x = small_numbers(80, 24);
  table y(96, 24);
  const tuned op(ways<absent_as<compressed<"K">, infinity>>, o);
  op(a, x, y);
  CHECK(y == shortest(a, x));
  const std::string text = op.report(a, x, y);
  CAPTURE(text);
  CHECK(text.find("  format    bsr<8>: ") != std::string::npos);
  CHECK(text.find("which is not stored in compressed rows") ==
        std::string::npos);  // all can be made
  o.matrices_change = true;
  const tuned changing(ways<absent_as<compressed<"K">, infinity>>, o);
  for (int round = 0; round < 3; ++round) {
    changing(a, x, y);
    CHECK(y == shortest(a, x));
    a.coeffs() += 2.0f;
  }
}
