// A layer of experts (Shazeer et al., ICLR 2017): a router sends each token to one of them, which has weights of
// its own. Tokens that stand together for one expert are a row of a ragged tensor, and the layer is a ragged
// batched product, one call for all experts however many tokens each gets.
//
// Beside it runs what one writes without it: all experts padded to as many tokens as the busiest one has.
#include <tilewright/tilewright.hpp>

#include <Eigen/Core>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <random>
#include <vector>

constexpr auto experts = tw::kernel<"experts">(
    [](tw::in<"X", float, "E", tw::ragged<"T">, "K"> X, tw::in<"W", float, "E", "K", "N"> W,
       tw::out<"Y", float, "E", tw::stored_like<"T", "X">, "N"> Y) {
      using tw::axes::e, tw::axes::t, tw::axes::k, tw::axes::n;
      return Y(e, t, n) = tw::max(tw::sum<k>(X(e, t, k) * W(e, k, n)), 0.0f);
    });

constexpr auto padded = tw::kernel<"padded">([](tw::in<"X", float, "E", "T", "K"> X,
                                                tw::in<"W", float, "E", "K", "N"> W,
                                                tw::out<"Y", float, "E", "T", "N"> Y) {
  using tw::axes::e, tw::axes::t, tw::axes::k, tw::axes::n;
  return Y(e, t, n) = tw::max(tw::sum<k>(X(e, t, k) * W(e, k, n)), 0.0f);
});

namespace {

using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// The best of twenty calls. // ms
template <class Call>
double best_of(const Call& call) {
  double best = 1e30;
  for (int k = 0; k < 20; ++k) {
    const auto start = std::chrono::steady_clock::now();
    call();
    best = std::min(
        best,
        1e3 * std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

}  // namespace

int main() {
  constexpr int count = 16, depth = 128, wide = 128, tokens = 1024;
  std::mt19937 random(7);
  std::geometric_distribution<int> draw(0.25);  // a few experts are asked for most often
  std::vector<int> asked(count, 0);
  for (int t = 0; t < tokens; ++t)
    ++asked[static_cast<std::size_t>(std::min(draw(random), count - 1))];
  std::vector<std::int32_t> offsets{0};
  for (const int n : asked) offsets.push_back(offsets.back() + n);
  const matrix x = matrix::Random(tokens, depth);
  const matrix w = matrix::Random(count * depth, wide);
  const auto weights = tw::view(w.data(), {count, depth, wide});

  const tw::tuned op{experts, {.seconds = 2, .threads = 1}};
  matrix y(tokens, wide);
  op(tw::ragged_of(offsets, x), weights, y);

  double worst = 0;
  for (int e = 0; e < count; ++e) {
    const int first = offsets[static_cast<std::size_t>(e)], n = asked[static_cast<std::size_t>(e)];
    const Eigen::MatrixXd expected =
        (x.middleRows(first, n).cast<double>() * w.middleRows(e * depth, depth).cast<double>())
            .cwiseMax(0.0);
    if (n > 0)
      worst =
          std::max(worst, (y.middleRows(first, n).cast<double>() - expected).cwiseAbs().maxCoeff());
  }

  const int longest = *std::max_element(asked.begin(), asked.end());
  matrix filled = matrix::Zero(count * longest, depth), all(count * longest, wide);
  for (int e = 0; e < count; ++e)
    filled.middleRows(e * longest, asked[static_cast<std::size_t>(e)]) =
        x.middleRows(offsets[static_cast<std::size_t>(e)], asked[static_cast<std::size_t>(e)]);
  const tw::tuned dense{padded, {.seconds = 2, .threads = 1}};
  const auto run_dense = [&] {
    dense(tw::view(filled.data(), {count, longest, depth}), weights,
          tw::view(all.data(), {count, longest, wide}));
  };
  run_dense();

  const double own = best_of([&] { op(tw::ragged_of(offsets, x), weights, y); });
  const double beside = best_of(run_dense);
  std::cout << tokens << " tokens for " << count << " experts, " << longest
            << " for the busiest one\n"
            << std::fixed << std::setprecision(3) << "ragged: " << own << " ms, padded to "
            << count * longest << " tokens: " << beside << " ms (" << std::setprecision(1)
            << beside / own << " times as long)\n"
            << "difference from double: " << std::scientific << worst << "\n";
  return worst < 1e-3 ? 0 : 1;
}
