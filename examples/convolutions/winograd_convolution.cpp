// A convolution that allows the rounding of Winograd's algorithm: search takes the fastest of the sums as
// they are written and tiles of 2x2, 4x4 and 6x6 results, as far as the stated error goes.
#include <tilewright/tilewright.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <vector>

#include <tilewright/ops/convolution.hpp>
#include <tilewright/ops/winograd.hpp>

using namespace tw;

int main() {
  constexpr int extent = 28, channels = 32;
  constexpr ops::conv_options same{.padding = 1};
  std::vector<float> x(extent * extent * channels), f(9 * channels * channels), y(x.size()),
      plain(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = std::sin(0.9f * static_cast<float>(k));
  for (std::size_t k = 0; k < f.size(); ++k) f[k] = std::sin(0.37f * static_cast<float>(k));
  const auto X = view(x.data(), {1, extent, extent, channels});
  const auto F = view(f.data(), {3, 3, channels, channels});

  const double error = ops::winograd_error(4, channels);
  const tuned_options options{.seconds = 2, .trials = 48, .database = ":memory:"};
  const auto within =
      tuned{ops::winograd(ops::conv2d<float, float, same>, error), options}.with<"F">(F);
  within(X, view(y.data(), {1, extent, extent, channels}));
  std::cout << within.report(X, view(y.data(), {1, extent, extent, channels}));

  const tuned direct{ops::conv2d<float, float, same>, options};
  direct(X, F, view(plain.data(), {1, extent, extent, channels}));
  double squares = 0, worst = 0;
  for (std::size_t k = 0; k < y.size(); ++k) {
    squares += static_cast<double>(plain[k]) * static_cast<double>(plain[k]);
    worst = std::max(worst, static_cast<double>(std::abs(y[k] - plain[k])));
  }
  const double mean = std::sqrt(squares / static_cast<double>(y.size()));
  std::cout << "largest difference over the root mean square: " << worst / mean << "\n";
  return worst <= 2 * error * mean ? 0 : 1;
}
