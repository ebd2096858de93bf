#include <tilewright/ops/attention.hpp>

#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include <ops/array.hpp>

using namespace test_kernels;
using namespace test_ops;

namespace {

template <class T, ops::attention_options O = ops::attention_options{}>
void check_attention(extent_t M, extent_t N, double tolerance) {
  const extent_t B = 2 * O.group, H = 2, D = 5, E = 3;
  const T scale = T(0.25);
  array<T> q({B, M, D}, 1), k({H, N, D}, 2), v({H, N, E}, 3), y({B, M, E}), want({B, M, E});
  for (extent_t b = 0; b < B; ++b)
    for (extent_t i = 0; i < M; ++i) {
      const extent_t seen = O.causal ? std::min(N, i + N - M + 1) : N;
      std::vector<double> scores(static_cast<std::size_t>(seen));
      for (extent_t j = 0; j < seen; ++j) {
        double total = 0;
        for (extent_t d = 0; d < D; ++d)
          total += static_cast<double>(q(b, i, d)) * static_cast<double>(k(b / O.group, j, d));
        scores[static_cast<std::size_t>(j)] = static_cast<double>(scale) * total;
      }
      const double peak = *std::max_element(scores.begin(), scores.end());
      double total = 0;
      for (double& s : scores) total += s = std::exp(s - peak);
      for (extent_t e = 0; e < E; ++e) {
        double sum = 0;
        for (extent_t j = 0; j < seen; ++j)
          sum += scores[static_cast<std::size_t>(j)] * static_cast<double>(v(b / O.group, j, e));
        want(b, i, e) = static_cast<T>(sum / total);
      }
    }
  dim_values sizes{{"B", B}, {"M", M}, {"N", N}, {"D", D}, {"E", E}};
  if (O.group > 1) sizes.insert({"H", H});
  run_both(ops::attention<T, T, O>, sizes,
           {q.data.data(), k.data.data(), v.data.data(), &scale, y.data.data()});
  check_near(y, want, tolerance);
}

}  // namespace

TEST_CASE("attention, with all keys and with those up to the query's own") {
  check_attention<float>(4, 7, 1e-5);
  check_attention<double>(7, 4, 1e-12);
  check_attention<float, ops::attention_options{.causal = true}>(6, 6, 1e-5);
  check_attention<double, ops::attention_options{.causal = true}>(3, 8, 1e-12);
  // weights of a type's own elements are what they are
  check_attention<float, ops::attention_options{.rounded_weights = true}>(4, 7, 1e-5);
}

TEST_CASE("attention whose heads share keys and values in groups") {
  check_attention<float, ops::attention_options{.group = 4}>(4, 7, 1e-5);
  check_attention<float, ops::attention_options{.causal = true, .group = 2}>(3, 5, 1e-5);
  check_attention<double, ops::attention_options{.group = 3}>(1, 9, 1e-12);
}
