// Two algorithms for one computation: a convolution as it is written, and as a product with the
// windows laid out as rows. Search explores the schedules of both and keeps the fastest.
#include <tilewright/tilewright.hpp>

#include <cmath>
#include <iostream>
#include <vector>

using namespace tw;

namespace {

constexpr auto direct = kernel<"direct">(
    [](in<"X", float, "W", "C"> X, in<"F", float, "R", "C", "K"> F, out<"Y", float, "P", "K"> Y) {
      using axes::p, axes::k, axes::r, axes::c;
      return Y(p, k) = sum<r, c>(X(p + r, c) * F(r, c, k));
    });

constexpr auto by_rows = kernel<"by_rows">(
    [](in<"X", float, "W", "C"> X, in<"F", float, "R", "C", "K"> F, out<"Y", float, "P", "K"> Y) {
      using axes::p, axes::k, axes::r, axes::c;
      temp<"rows", float, "P", "R", "C"> rows;
      return blocks(rows(p, r, c) = X(p + r, c), Y(p, k) = sum<r, c>(rows(p, r, c) * F(r, c, k)));
    });

}  // namespace

int main() {
  std::vector<float> x(130 * 16, 1.0f), f(3 * 16 * 32, 0.5f), y(128 * 32);
  const auto X = view(x.data(), {130, 16});
  const auto F = view(f.data(), {3, 16, 32});
  const auto Y = view(y.data(), {128, 32});
  tuned op{alternatives(direct, by_rows), {.seconds = 2, .trials = 48, .database = ":memory:"}};
  op(X, F, Y);
  std::cout << op.report(X, F, Y);
  return std::abs(y[0] - 24.0f) < 1e-3f ? 0 : 1;
}
