#include <tilewright/ops/matrix.hpp>

#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include <ops/array.hpp>
#include <tilewright/tuned.hpp>

using namespace test_kernels;
using namespace test_ops;

namespace {

template <ops::activation A, class F>
void check_dense(F f) {
  const extent_t M = 3, K = 4, N = 5;
  array<float> x({M, K}, 1), w({K, N}, 2), bias({N}, 3), y({M, N}), want({M, N});
  for (float& v : w.data) v /= 16;
  for (extent_t i = 0; i < M; ++i)
    for (extent_t j = 0; j < N; ++j) {
      double total = 0;
      for (extent_t k = 0; k < K; ++k) total += static_cast<double>(x(i, k) * w(k, j));
      want(i, j) = static_cast<float>(f(total + static_cast<double>(bias(j))));
    }
  run_both(ops::dense<float, float, A>, {{"M", M}, {"K", K}, {"N", N}},
           {x.data.data(), w.data.data(), bias.data.data(), y.data.data()});
  check_near(y, want);
}

}  // namespace

TEST_CASE("matmul in all four transpositions, gemm, matvec, batches") {
  const extent_t M = 4, K = 5, N = 3;
  const auto check = [&](const any_kernel& kernel, bool ta, bool tb) {
    array<float> a(ta ? std::vector<extent_t>{K, M} : std::vector<extent_t>{M, K}, 1);
    array<float> b(tb ? std::vector<extent_t>{N, K} : std::vector<extent_t>{K, N}, 2);
    array<float> c({M, N}), want({M, N});
    for (extent_t i = 0; i < M; ++i)
      for (extent_t j = 0; j < N; ++j)
        for (extent_t k = 0; k < K; ++k)
          want(i, j) += (ta ? a(k, i) : a(i, k)) * (tb ? b(j, k) : b(k, j));
    run_both(kernel, {{"M", M}, {"N", N}, {"K", K}}, {a.data.data(), b.data.data(), c.data.data()});
    check_same(c, want);
  };
  check(ops::matmul<float>, false, false);
  check(ops::matmul<float, float, ops::matmul_options{.transpose_a = true}>, true, false);
  check(ops::matmul<float, float, ops::matmul_options{.transpose_b = true}>, false, true);
  check(ops::matmul<float, float, ops::matmul_options{true, true}>, true, true);

  array<float> a({M, K}, 1), b({K, N}, 2), c({M, N}, 3), want = c;
  const float alpha = 2, beta = -3;
  for (extent_t i = 0; i < M; ++i)
    for (extent_t j = 0; j < N; ++j) {
      float total = 0;
      for (extent_t k = 0; k < K; ++k) total += a(i, k) * b(k, j);
      want(i, j) = alpha * total + beta * c(i, j);
    }
  run_both(ops::gemm<float>, {{"M", M}, {"N", N}, {"K", K}},
           {&alpha, a.data.data(), b.data.data(), &beta, c.data.data()});
  check_same(c, want);

  array<double> w({M, K}, 4), x({K}, 5), y({M}), y_want({M});
  for (extent_t i = 0; i < M; ++i)
    for (extent_t k = 0; k < K; ++k) y_want(i) += w(i, k) * x(k);
  run_both(ops::matvec<double>, {{"M", M}, {"K", K}},
           {w.data.data(), x.data.data(), y.data.data()});
  check_same(y, y_want);

  array<std::int8_t> p({2, M, K}, 6), q({2, N, K}, 7);
  array<std::int32_t> r({2, M, N}), r_want({2, M, N});
  for (extent_t s = 0; s < 2; ++s)
    for (extent_t i = 0; i < M; ++i)
      for (extent_t j = 0; j < N; ++j)
        for (extent_t k = 0; k < K; ++k) r_want(s, i, j) += p(s, i, k) * q(s, j, k);
  run_both(ops::batch_matmul<std::int8_t, std::int32_t, ops::matmul_options{.transpose_b = true}>,
           {{"B", 2}, {"M", M}, {"N", N}, {"K", K}}, {p.data.data(), q.data.data(), r.data.data()});
  check_same(r, r_want);
}

TEST_CASE("products whose second operand is a weight compute the same") {
  const extent_t M = 4, K = 5, N = 3;
  constexpr ops::matmul_options plain{.weight_b = true}, turned{true, true, true};
  array<float> a({M, K}, 1), b({K, N}, 2), at({K, M}), bt({N, K}), c({M, N}), want({M, N});
  for (extent_t i = 0; i < M; ++i)
    for (extent_t k = 0; k < K; ++k) at(k, i) = a(i, k);
  for (extent_t k = 0; k < K; ++k)
    for (extent_t j = 0; j < N; ++j) bt(j, k) = b(k, j);
  for (extent_t i = 0; i < M; ++i)
    for (extent_t j = 0; j < N; ++j) {
      double total = 0;
      for (extent_t k = 0; k < K; ++k) total += static_cast<double>(a(i, k) * b(k, j));
      want(i, j) = static_cast<float>(total);
    }
  const dim_values dims{{"M", M}, {"N", N}, {"K", K}};
  run_both(ops::matmul<float, float, plain>, dims, {a.data.data(), b.data.data(), c.data.data()});
  check_near(c, want);
  run_both(ops::matmul<float, float, turned>, dims,
           {at.data.data(), bt.data.data(), c.data.data()});
  check_near(c, want);
  const float one = 1, none = 0;
  run_both(ops::gemm<float, float, plain>, dims,
           {&one, a.data.data(), b.data.data(), &none, c.data.data()});
  check_near(c, want);
  run_both(ops::gemm<float, float, turned>, dims,
           {&one, at.data.data(), bt.data.data(), &none, c.data.data()});
  check_near(c, want);
  run_both(ops::batch_matmul<float, float, plain>, {{"B", 1}, {"M", M}, {"N", N}, {"K", K}},
           {a.data.data(), b.data.data(), c.data.data()});
  check_near(c, want);

  // bound once, the call brings the rest
  const tuned op{ops::matmul<float, float, plain>,
                 {.trials = 0, .database = ":memory:", .mode = mode::off}};
  const auto layer = op.with<"B">(view(b.data.data(), {K, N}));
  layer(view(a.data.data(), {M, K}), view(c.data.data(), {M, N}));
  check_near(c, want);
}

TEST_CASE("dense with each activation") {
  const auto logistic = [](double x) { return 1 / (1 + std::exp(-x)); };
  check_dense<ops::activation::none>([](double x) { return x; });
  check_dense<ops::activation::relu>([](double x) { return std::max(x, 0.0); });
  check_dense<ops::activation::sigmoid>(logistic);
  check_dense<ops::activation::tanh>([](double x) { return std::tanh(x); });
  check_dense<ops::activation::silu>([&](double x) { return x * logistic(x); });
  check_dense<ops::activation::gelu>(
      [](double x) { return x * 0.5 * (1 + std::erf(x / std::sqrt(2.0))); });
}
