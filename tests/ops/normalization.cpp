#include <tilewright/ops/normalization.hpp>

#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include <ops/array.hpp>

using namespace test_kernels;
using namespace test_ops;

TEST_CASE("softmax in its three forms") {
  const extent_t M = 11, N = 7;
  array<float> x({M, N}, 1), y({M, N}), want({M, N}), want_log({M, N});
  for (extent_t i = 0; i < M; ++i) {
    double peak = -1e30, total = 0;
    for (extent_t j = 0; j < N; ++j) peak = std::max(peak, static_cast<double>(x(i, j)));
    for (extent_t j = 0; j < N; ++j) total += std::exp(static_cast<double>(x(i, j)) - peak);
    for (extent_t j = 0; j < N; ++j) {
      want(i, j) = static_cast<float>(std::exp(static_cast<double>(x(i, j)) - peak) / total);
      want_log(i, j) = static_cast<float>(static_cast<double>(x(i, j)) - peak - std::log(total));
    }
  }
  run_both(ops::softmax<float>, {{"M", M}, {"N", N}}, {x.data.data(), y.data.data()});
  check_near(y, want);
  run_both(ops::online_softmax<float>, {{"M", M}, {"N", N}}, {x.data.data(), y.data.data()});
  check_near(y, want);
  run_both(ops::log_softmax<float>, {{"M", M}, {"N", N}}, {x.data.data(), y.data.data()});
  check_near(y, want_log);
}

TEST_CASE("normalizations") {
  const extent_t M = 11, N = 8;
  const double eps = 1e-3;
  array<double> x({M, N}, 1), gamma({N}, 2), beta({N}, 3), y({M, N}), layer({M, N}), rms({M, N}),
      unit({M, N});
  for (extent_t i = 0; i < M; ++i) {
    double mean = 0, variance = 0, square = 0;
    for (extent_t j = 0; j < N; ++j) {
      mean += x(i, j) / static_cast<double>(N);
      square += x(i, j) * x(i, j);
    }
    for (extent_t j = 0; j < N; ++j)
      variance += (x(i, j) - mean) * (x(i, j) - mean) / static_cast<double>(N);
    for (extent_t j = 0; j < N; ++j) {
      layer(i, j) = (x(i, j) - mean) / std::sqrt(variance + eps) * gamma(j) + beta(j);
      rms(i, j) = x(i, j) / std::sqrt(square / static_cast<double>(N) + eps) * gamma(j);
      unit(i, j) = x(i, j) / std::sqrt(square + eps);
    }
  }
  const dim_values dims{{"M", M}, {"N", N}};
  run_both(ops::layer_norm<double>, dims,
           {x.data.data(), gamma.data.data(), beta.data.data(), &eps, y.data.data()});
  check_near(y, layer, 1e-9);
  run_both(ops::rms_norm<double>, dims, {x.data.data(), gamma.data.data(), &eps, y.data.data()});
  check_near(y, rms, 1e-9);
  run_both(ops::l2_normalize<double>, dims, {x.data.data(), &eps, y.data.data()});
  check_near(y, unit, 1e-9);

  array<double> mean({N}, 4), variance({N}, 5), batch({M, N});
  for (double& v : variance.data) v = std::abs(v) + 1;
  for (extent_t i = 0; i < M; ++i)
    for (extent_t j = 0; j < N; ++j)
      batch(i, j) = (x(i, j) - mean(j)) / std::sqrt(variance(j) + eps) * gamma(j) + beta(j);
  run_both(ops::batch_norm<double>, {{"M", M}, {"C", N}},
           {x.data.data(), mean.data.data(), variance.data.data(), gamma.data.data(),
            beta.data.data(), &eps, y.data.data()});
  check_near(y, batch, 1e-9);

  array<double> cube({2, M, N}, 6), norm({2}), norm_want({2});
  for (extent_t b = 0; b < 2; ++b) {
    for (extent_t i = 0; i < M; ++i)
      for (extent_t j = 0; j < N; ++j) norm_want(b) += cube(b, i, j) * cube(b, i, j);
    norm_want(b) = std::sqrt(norm_want(b));
  }
  run_both(ops::l2_norm<double>, {{"B", 2}, {"M", M}, {"N", N}},
           {cube.data.data(), norm.data.data()});
  check_near(norm, norm_want, 1e-9);
}
