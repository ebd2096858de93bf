// Calls with a matrix of compressed rows in a format that the user states.
#include <tilewright/sparse/format_rule.hpp>
#include <tilewright/tilewright.hpp>

#include <doctest/doctest.h>
#include <Eigen/Sparse>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <sparse/random_rule.hpp>

#include "sparse_frames.hpp"

using namespace tw;
using axes::i, axes::j, axes::k;
using namespace sparse_frames;
using sparse::format_rule;

namespace {

constexpr auto products = kernel<"products">(
    [](in<"A", float, "M", compressed<"K">> A, in<"B", float, "K", "N"> B,
       out<"C", float, "M", "N"> C) { return C(i, j) = sum<k>(A(i, k) * B(k, j)); });

tuned_options stated(sparse::format_maker format, mode m = mode::off) {
  tuned_options o = short_tuning(m);
  o.format = std::move(format);
  return o;
}

/// Strips of eight rows, in which a column is stored for a whole strip.
format_rule strips(std::int64_t rows, std::int64_t columns) {
  using ir::axis_kind;
  return {"strips",
          {{"IO", axis_kind::dense_fixed, "", (rows + 7) / 8},
           {"J", axis_kind::sparse_variable, "IO", columns},
           {"II", axis_kind::dense_fixed, "J", 8}},
          ir::make_index_map("IndexMap.from_func(lambda i, j: (i // 8, j, i % 8), "
                             "inverse_index_map=lambda io, j, ii: (io * 8 + ii, j))")};
}

/// Every third row is empty.
sparse_rows random_matrix_of(int rows, int columns, int each, unsigned seed) {
  std::srand(seed);
  std::vector<Eigen::Triplet<float>> entries;
  for (int r = 0; r < rows; ++r)
    for (int e = r % 3 == 1 ? each : 0; e < each; ++e)
      entries.emplace_back(r, std::rand() % columns, static_cast<float>(std::rand() % 19 - 9));
  sparse_rows out(rows, columns);
  out.setFromTriplets(entries.begin(), entries.end(), [](float, float b) { return b; });
  return out;
}

dense_rows whole_numbers(Eigen::Index rows, Eigen::Index columns) {
  dense_rows out(rows, columns);
  for (Eigen::Index n = 0; n < out.size(); ++n) out.data()[n] = static_cast<float>(n * 29 % 13 - 6);
  return out;
}

template <class Op>
void check_products(const Op& op, const sparse_rows& a) {
  const dense_rows b = whole_numbers(a.cols(), 9), expected = a * b;
  dense_rows c = dense_rows::Constant(a.rows(), 9, 77);
  op(a, b, c);
  CHECK(c == expected);
}

}  // namespace

TEST_CASE(
    "a matrix is converted once, gathered for new values, and converted anew for a new pattern") {
  int made = 0;
  for (const mode m : {mode::off, mode::now}) {
    const tuned op(products, stated(
                                 [&](std::int64_t rows, std::int64_t columns) {
                                   ++made;
                                   return strips(rows, columns);
                                 },
                                 m));
    sparse_rows a = random_matrix_of(37, 30, 4, 1);
    check_products(op, a);
    const int after_first = made;
    check_products(op, a);
    a.coeffs() *= 3.0f;
    check_products(op, a);
    CHECK(made == after_first);
    a.innerIndexPtr()[0] = a.innerIndexPtr()[0] == 0 ? 1 : 0;  // row 0 is still in order, or nearly
    std::sort(a.innerIndexPtr(), a.innerIndexPtr() + a.outerIndexPtr()[1]);
    if (std::adjacent_find(a.innerIndexPtr(), a.innerIndexPtr() + a.outerIndexPtr()[1]) ==
        a.innerIndexPtr() + a.outerIndexPtr()[1]) {
      check_products(op, a);
      CHECK(made > after_first);
    }
    const dense_rows b = whole_numbers(30, 9);
    dense_rows c(37, 9);
    const std::string text = op.report(a, b, c);
    CAPTURE(text);
    CHECK(text.find("  format    strips, as the options state it: conversion ") !=
          std::string::npos);
    CHECK(text.find(" % padding, ") != std::string::npos);
  }
}

TEST_CASE("other sizes on the same op, rows that are no multiple, an empty matrix and empty rows") {
  const tuned op(products, stated(strips));
  for (const int rows : {1, 8, 9, 40})
    for (const int each : {0, 1, 7}) check_products(op, random_matrix_of(rows, 23, each, 5));
  check_products(op, random_matrix_of(12, 1, 1, 6));
}

TEST_CASE("drawn formats give what compressed rows give") {
  for (std::uint64_t draw = 0; draw < 40; ++draw) {
    const std::uint64_t number = draw * 37 + 5;
    INFO("format ", number);
    const tuned op(products, stated([=](std::int64_t rows, std::int64_t columns) {
                     return random_rule::draw_rule(number, rows, columns);
                   }));
    const auto size = static_cast<int>(draw);
    sparse_rows a = random_matrix_of(1 + size * 7 % 29, 1 + size * 5 % 23, 1 + size % 5, 3);
    check_products(op, a);
    a.coeffs() += 1.0f;
    check_products(op, a);
  }
}

TEST_CASE("64-bit indices, doubles, and minima where what is absent is infinite") {
  constexpr auto least =
      kernel<"least">([](in<"A", double, "M", absent_as<compressed<"K", std::int64_t>, infinity>> A,
                         in<"x", double, "K"> x,
                         out<"y", double, "M"> y) { return y(i) = min<k>(A(i, k) + x(k)); });
  const tuned op(least, stated(strips));
  const sparse_rows a = random_matrix_of(21, 17, 3, 8);
  const Eigen::SparseMatrix<double, Eigen::RowMajor, std::int64_t> wide = a.cast<double>();
  const Eigen::VectorXd x = whole_numbers(17, 1).cast<double>();
  Eigen::VectorXd y(21);
  op(wide, x, y);
  for (Eigen::Index r = 0; r < 21; ++r) {
    double expected = infinity;
    for (sparse_rows::InnerIterator at(a, r); at; ++at)
      expected = std::min(expected, static_cast<double>(at.value()) + x[at.col()]);
    CHECK(y[r] == expected);
  }
}

TEST_CASE("what a format cannot hold is refused before anything is written") {
  const sparse_rows a = random_matrix_of(20, 20, 3, 2);
  const dense_rows b = whole_numbers(20, 9);
  dense_rows c = dense_rows::Constant(20, 9, 5);
  const auto why = [&](const tuned_options& o) {
    const tuned op(products, o);
    return refusal([&] { op(a, b, c); });
  };
  tuned_options small = stated(strips);
  small.most_format_bytes = 1000;
  const std::string limit = why(small);
  CAPTURE(limit);
  CHECK(limit.find("strips") != std::string::npos);
  const std::string unproved = why(stated([](std::int64_t rows, std::int64_t columns) {
    format_rule out = strips(rows, columns);
    out.axes[0].length -= 1;
    return out;
  }));
  CAPTURE(unproved);
  CHECK(unproved.find("(requirement 5)") != std::string::npos);
  const std::string narrow = why(stated([](std::int64_t rows, std::int64_t columns) {
    return format_rule{"narrow",
                       {{"I", ir::axis_kind::dense_fixed, "", rows},
                        {"J", ir::axis_kind::sparse_fixed, "I", columns, 1}},
                       ir::make_index_map("IndexMap.from_func(lambda i, j: (i, j), "
                                          "inverse_index_map=lambda i, j: (i, j))")};
  }));
  CAPTURE(narrow);
  CHECK(narrow.find("coordinates along axis \"J\", which has 1 places") != std::string::npos);
  CHECK((c.array() == 5).all());

  std::vector<int> offsets(a.outerIndexPtr(), a.outerIndexPtr() + 21),
      indices(a.innerIndexPtr(), a.innerIndexPtr() + a.nonZeros());
  const std::vector<float> values(a.valuePtr(), a.valuePtr() + a.nonZeros());
  indices[3] = 20;
  const tuned op(products, stated(strips));
  const std::string outside = refusal([&] { op(csr(offsets, indices, values, 20), b, c); });
  CAPTURE(outside);
  CHECK(outside.find("products: ") != std::string::npos);
  CHECK(outside.find("[3] is 20") != std::string::npos);
}

TEST_CASE("a format is for the one matrix of a kernel, whose terms may be in any order") {
  constexpr auto two = kernel<"two">(
      [](in<"A", float, "M", compressed<"K">> A, in<"B", float, "M", compressed<"K">> B,
         out<"y", float, "M"> y) { return y(i) = sum<k>(intersect(A(i, k) * B(i, k))); });
  CHECK(refusal([&] { const tuned op(two, stated(strips)); }).find("two: a format is stated for") ==
        0);
  tuned_options o = stated(strips);
  o.reductions = reductions::in_order;
  CHECK(refusal([&] { const tuned op(products, o); }).find("reductions are in_order") !=
        std::string::npos);
}

TEST_CASE("warm prepares the stated format, also in the background") {
  const sparse_rows a = random_matrix_of(37, 30, 4, 1);
  const dense_rows b = whole_numbers(30, 9);
  dense_rows c = dense_rows::Constant(37, 9, 5);
  const tuned op(products, stated(strips, mode::background));
  op.warm(a, b, c);
  CHECK((c.array() == 5).all());
  op.wait();
  check_products(op, a);
  CHECK(op.report(a, b, c).find("tuned") != std::string::npos);
}
