// Calls whose reductions take their terms in the order of the program: the bits of plain loops.
#include <tilewright/tilewright.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

using namespace tw;
using axes::i, axes::j, axes::k;

namespace {

constexpr auto product = kernel<"product">(
    [](in<"A", float, "M", "K"> A, in<"B", float, "K", "N"> B, out<"C", float, "M", "N"> C) {
      return C(i, j) = sum<k>(A(i, k) * B(k, j));
    });

constexpr auto spmm =
    kernel<"spmm">([](in<"A", float, "M", compressed<"K">> A, in<"B", float, "K", "N"> B,
                      out<"C", float, "M", "N"> C) { return C(i, j) = sum<k>(A(i, k) * B(k, j)); });

std::vector<float> numbers(std::size_t count, unsigned seed) {
  std::vector<float> out(count);
  for (float& x : out)
    x = static_cast<float>((seed = seed * 1664525 + 1013904223) >> 8) / 8388608.0f - 1;
  return out;
}

tuned_options in_order(int trials, std::uint64_t seed) {
  tuned_options o;
  o.seconds = 60;
  o.trials = trials;
  o.database = ":memory:";
  o.reductions = reductions::in_order;
  o.seed = seed;
  return o;
}

/// A sum as a loop has it; without contraction, also where a compiler would.
float plus_product(float sum, float a, float b) {
  const volatile float term = a * b;
  return sum + term;
}

}  // namespace

TEST_CASE("sums in order have the bits of plain loops, whatever sessions find") {
  constexpr int m = 37, n = 41, depth = 1000;
  const std::vector<float> a = numbers(m * depth, 1), b = numbers(depth * n, 2);
  std::vector<float> expected(m * n), c(m * n);
  float* const sums = expected.data();
  for (int row = 0; row < m; ++row)
    for (int column = 0; column < n; ++column)
      for (int step = 0; step < depth; ++step)
        sums[row * n + column] = plus_product(sums[row * n + column], a.data()[row * depth + step],
                                              b.data()[step * n + column]);
  for (const std::uint64_t seed : {1u, 2u}) {
    const tuned op(product, in_order(6, seed));
    const auto call = [&](auto&& use) {
      use(view(a.data(), {m, depth}), view(b.data(), {depth, n}), view(c.data(), {m, n}));
    };
    call(op);
    CHECK(std::memcmp(c.data(), expected.data(), c.size() * sizeof(float)) == 0);
    std::string report;
    call([&](auto&&... arguments) { report = op.report(arguments...); });
    CHECK(report.find("sums      in the order of the program") != std::string::npos);
  }
}

TEST_CASE("rows of sparse matrices are added up in order") {
  constexpr int rows = 30, columns = 50, n = 20;
  std::vector<int> at{0}, which;
  for (int row = 0; row < rows; ++row) {
    for (int column = row % 3; column < columns; column += 1 + (row + column) % 4)
      which.push_back(column);
    at.push_back(static_cast<int>(which.size()));
  }
  const std::vector<float> values = numbers(which.size(), 3), b = numbers(columns * n, 4);
  std::vector<float> expected(rows * n), c(rows * n);
  float* const sums = expected.data();
  for (int row = 0; row < rows; ++row)
    for (int e = at.data()[row]; e < at.data()[row + 1]; ++e)
      for (int column = 0; column < n; ++column)
        sums[row * n + column] = plus_product(sums[row * n + column], values.data()[e],
                                              b.data()[which.data()[e] * n + column]);
  tuned_options o = in_order(6, 1);
  o.calls = 1000;  // other formats would have another order
  const tuned op(spmm, o);
  op(csr(at, which, values, columns), view(b.data(), {columns, n}), view(c.data(), {rows, n}));
  CHECK(std::memcmp(c.data(), expected.data(), c.size() * sizeof(float)) == 0);
}
