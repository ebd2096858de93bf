// A softmax of rows on the GPU of this machine; where there is none, it says so.
#include <tilewright/cuda.hpp>
#include <tilewright/tilewright.hpp>

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <vector>

using namespace tw;

namespace {

constexpr auto softmax_rows =
    kernel<"softmax_rows">([](in<"X", float, "M", "N"> X, out<"Y", float, "M", "N"> Y) {
      using axes::i, axes::j;
      temp<"peak", float, "M"> peak;
      temp<"e", float, "M", "N"> e;
      temp<"total", float, "M"> total;
      return blocks(peak(i) = max<j>(X(i, j)), e(i, j) = exp(X(i, j) - peak(i)),
                    total(i) = sum<j>(e(i, j)), Y(i, j) = e(i, j) / total(i));
    });

constexpr int rows = 256, columns = 512;

/// Largest distance of a row's sum from 1.
double distance(const std::vector<float>& y) {
  double worst = 0;
  for (int i = 0; i < rows; ++i) {
    double total = 0;
    for (int j = 0; j < columns; ++j) total += y[static_cast<std::size_t>(i * columns + j)];
    worst = std::max(worst, std::abs(total - 1));
  }
  return worst;
}

}  // namespace

int main() {
  if (const cuda::availability& here = cuda::available(); !here) {
    std::cout << "skipped: no GPU (" << here.reason << ")\n";
    return EXIT_SUCCESS;
  }
  std::vector<float> x(rows * columns), y(rows * columns);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 97) * 0.1f;
  device_buffer<float, 2> there({rows, columns}), result({rows, columns});
  there.copy_from(x.data());
  const tuned softmax{softmax_rows, {.mode = mode::off}};
  softmax(there, result);
  result.copy_to(y.data());
  std::cout << softmax.report(there, result) << "rows add up to 1 within " << distance(y) << "\n";
  return distance(y) < 1e-5 ? EXIT_SUCCESS : EXIT_FAILURE;
}
