#include <tilewright/ops.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include <doctest/doctest.h>

#include <top/engines.hpp>

using namespace test_kernels;
using ops::conv_options;
using ops::pool_options;

namespace {

using extent_t = std::int64_t;

/// Dense array with named access, the reference's only tool.
template <class T>
struct array {
  std::vector<extent_t> shape;
  std::vector<T> data;

  array(std::vector<extent_t> s, int seed) : shape(std::move(s)), data(numbers<T>(size(), seed)) {}
  explicit array(std::vector<extent_t> s) : shape(std::move(s)), data(size()) {}
  std::size_t size() const {
    extent_t n = 1;
    for (extent_t e : shape) n *= e;
    return static_cast<std::size_t>(n);
  }
  template <class... I>
  T& operator()(I... at) {
    const extent_t where[] = {static_cast<extent_t>(at)...};
    extent_t offset = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      CHECK_MESSAGE((where[d] >= 0 && where[d] < shape[d]), "reference out of bounds");
      offset = offset * shape[d] + where[d];
    }
    return data[static_cast<std::size_t>(offset)];
  }
};

template <class T>
void check_same(const array<T>& got, const array<T>& want) {
  REQUIRE(got.data.size() == want.data.size());
  int wrong = 0;
  for (std::size_t k = 0; k < got.data.size(); ++k) wrong += got.data[k] != want.data[k];
  CHECK(wrong == 0);
}

template <class T>
void check_near(const array<T>& got, const array<T>& want, double tolerance = 1e-5) {
  REQUIRE(got.data.size() == want.data.size());
  int wrong = 0;
  for (std::size_t k = 0; k < got.data.size(); ++k)
    wrong += !(std::abs(static_cast<double>(got.data[k]) - static_cast<double>(want.data[k])) <=
               tolerance * (1 + std::abs(static_cast<double>(want.data[k]))));
  CHECK(wrong == 0);
}

/// An image or filter of up to three spatial dimensions in either layout.
template <class T>
struct picture {
  bool last;
  array<T> a;
  static std::vector<extent_t> shape(bool last, extent_t n, extent_t c, std::vector<extent_t> s) {
    std::vector<extent_t> out{n};
    if (!last) out.push_back(c);
    out.insert(out.end(), s.begin(), s.end());
    if (last) out.push_back(c);
    return out;
  }
  picture(bool l, extent_t n, extent_t c, std::vector<extent_t> s, int seed)
      : last(l), a(shape(l, n, c, s), seed) {}
  template <class... S>
  T& operator()(extent_t n, extent_t c, S... s) {
    return last ? a(n, s..., c) : a(n, c, s...);
  }
};

template <class T>
struct filters {
  bool last;
  array<T> a;
  static std::vector<extent_t> shape(bool last, extent_t c, extent_t k, std::vector<extent_t> s) {
    if (!last)
      s.insert(s.begin(), {k, c});
    else
      s.insert(s.end(), {c, k});
    return s;
  }
  filters(bool l, extent_t c, extent_t k, std::vector<extent_t> s, int seed)
      : last(l), a(shape(l, c, k, s), seed) {}
  template <class... S>
  T& operator()(extent_t c, extent_t k, S... s) {
    return last ? a(s..., c, k) : a(k, c, s...);
  }
};

extent_t windows(extent_t in, extent_t window, const conv_options& o, int d) {
  return (in + 2 * o.padding[d] - o.dilation[d] * (window - 1) - 1) / o.stride[d] + 1;
}
bool inside(extent_t at, extent_t extent) { return at >= 0 && at < extent; }

template <class T, class R, conv_options O>
void check_conv1d() {
  const bool last = O.order == ops::layout::channels_last;
  const extent_t N = 2, W = 11, CI = 4, S = 3, K = 6, C = CI / O.groups, Q = windows(W, S, O, 0);
  picture<T> x(last, N, CI, {W}, 1);
  filters<T> f(last, C, K, {S}, 2);
  picture<R> y(last, N, K, {Q}, 3), want(last, N, K, {Q}, 4);
  for (extent_t n = 0; n < N; ++n)
    for (extent_t q = 0; q < Q; ++q)
      for (extent_t k = 0; k < K; ++k) {
        R total = 0;
        for (extent_t s = 0; s < S; ++s)
          for (extent_t c = 0; c < C; ++c) {
            const extent_t w = q * O.stride[0] + s * O.dilation[0] - O.padding[0];
            if (inside(w, W))
              total +=
                  static_cast<R>(x(n, k / (K / O.groups) * C + c, w)) * static_cast<R>(f(c, k, s));
          }
        want(n, k, q) = total;
      }
  dim_values dims{{"N", N}, {"W", W}, {"C", C}, {"S", S}, {"K", K}, {"Q", Q}};
  if (O.groups > 1) dims["CI"] = CI;
  run_both(ops::conv1d<T, R, O>, dims, {x.a.data.data(), f.a.data.data(), y.a.data.data()});
  check_same(y.a, want.a);
}

template <class T, class R, conv_options O, bool Bias = false,
          ops::activation A = ops::activation::none>
void check_conv2d() {
  const bool last = O.order == ops::layout::channels_last;
  const extent_t N = 2, H = 8, W = 7, CI = 4, RR = 3, S = 2, K = 6, C = CI / O.groups;
  const extent_t P = windows(H, RR, O, 0), Q = windows(W, S, O, 1);
  picture<T> x(last, N, CI, {H, W}, 1);
  filters<T> f(last, C, K, {RR, S}, 2);
  array<R> bias({K}, 5);
  picture<R> y(last, N, K, {P, Q}, 3), want(last, N, K, {P, Q}, 4);
  for (extent_t n = 0; n < N; ++n)
    for (extent_t p = 0; p < P; ++p)
      for (extent_t q = 0; q < Q; ++q)
        for (extent_t k = 0; k < K; ++k) {
          R total = 0;
          for (extent_t r = 0; r < RR; ++r)
            for (extent_t s = 0; s < S; ++s)
              for (extent_t c = 0; c < C; ++c) {
                const extent_t h = p * O.stride[0] + r * O.dilation[0] - O.padding[0];
                const extent_t w = q * O.stride[1] + s * O.dilation[1] - O.padding[1];
                if (inside(h, H) && inside(w, W))
                  total += static_cast<R>(x(n, k / (K / O.groups) * C + c, h, w)) *
                           static_cast<R>(f(c, k, r, s));
              }
          if (Bias) total += bias(k);
          if (A == ops::activation::relu) total = std::max<R>(total, 0);
          want(n, k, p, q) = total;
        }
  dim_values dims{{"N", N}, {"H", H}, {"W", W}, {"C", C}, {"R", RR},
                  {"S", S}, {"K", K}, {"P", P}, {"Q", Q}};
  if (O.groups > 1) dims["CI"] = CI;
  if constexpr (Bias)
    run_both(ops::conv2d_bias<T, R, O, A>, dims,
             {x.a.data.data(), f.a.data.data(), bias.data.data(), y.a.data.data()});
  else
    run_both(ops::conv2d<T, R, O>, dims, {x.a.data.data(), f.a.data.data(), y.a.data.data()});
  check_same(y.a, want.a);
}

template <class T, conv_options O>
void check_conv3d() {
  const bool last = O.order == ops::layout::channels_last;
  const extent_t N = 1, D = 5, H = 4, W = 5, C = 2, TT = 2, RR = 3, S = 2, K = 3;
  const extent_t OO = windows(D, TT, O, 0), P = windows(H, RR, O, 1), Q = windows(W, S, O, 2);
  picture<T> x(last, N, C, {D, H, W}, 1), y(last, N, K, {OO, P, Q}, 3),
      want(last, N, K, {OO, P, Q}, 4);
  filters<T> f(last, C, K, {TT, RR, S}, 2);
  for (extent_t o = 0; o < OO; ++o)
    for (extent_t p = 0; p < P; ++p)
      for (extent_t q = 0; q < Q; ++q)
        for (extent_t k = 0; k < K; ++k) {
          T total = 0;
          for (extent_t t = 0; t < TT; ++t)
            for (extent_t r = 0; r < RR; ++r)
              for (extent_t s = 0; s < S; ++s)
                for (extent_t c = 0; c < C; ++c) {
                  const extent_t d = o * O.stride[0] + t * O.dilation[0] - O.padding[0];
                  const extent_t h = p * O.stride[1] + r * O.dilation[1] - O.padding[1];
                  const extent_t w = q * O.stride[2] + s * O.dilation[2] - O.padding[2];
                  if (inside(d, D) && inside(h, H) && inside(w, W))
                    total += x(0, c, d, h, w) * f(c, k, t, r, s);
                }
          want(0, k, o, p, q) = total;
        }
  run_both(ops::conv3d<T, T, O>,
           {{"N", N},
            {"D", D},
            {"H", H},
            {"W", W},
            {"C", C},
            {"T", TT},
            {"R", RR},
            {"S", S},
            {"K", K},
            {"O", OO},
            {"P", P},
            {"Q", Q}},
           {x.a.data.data(), f.a.data.data(), y.a.data.data()});
  check_same(y.a, want.a);
}

template <conv_options O>
void check_depthwise() {
  const bool last = O.order == ops::layout::channels_last;
  const extent_t N = 2, H = 6, W = 7, C = 3, RR = 3, S = 3, P = windows(H, RR, O, 0),
                 Q = windows(W, S, O, 1);
  picture<float> x(last, N, C, {H, W}, 1), y(last, N, C, {P, Q}, 3), want(last, N, C, {P, Q}, 4);
  array<float> f(last ? std::vector<extent_t>{RR, S, C} : std::vector<extent_t>{C, RR, S}, 2);
  for (extent_t n = 0; n < N; ++n)
    for (extent_t p = 0; p < P; ++p)
      for (extent_t q = 0; q < Q; ++q)
        for (extent_t c = 0; c < C; ++c) {
          float total = 0;
          for (extent_t r = 0; r < RR; ++r)
            for (extent_t s = 0; s < S; ++s) {
              const extent_t h = p * O.stride[0] + r * O.dilation[0] - O.padding[0];
              const extent_t w = q * O.stride[1] + s * O.dilation[1] - O.padding[1];
              if (inside(h, H) && inside(w, W))
                total += x(n, c, h, w) * (last ? f(r, s, c) : f(c, r, s));
            }
          want(n, c, p, q) = total;
        }
  run_both(ops::depthwise_conv2d<float, float, O>,
           {{"N", N}, {"H", H}, {"W", W}, {"C", C}, {"R", RR}, {"S", S}, {"P", P}, {"Q", Q}},
           {x.a.data.data(), f.data.data(), y.a.data.data()});
  check_same(y.a, want.a);
}

template <conv_options O>
void check_transposed(extent_t extra) {
  const bool last = O.order == ops::layout::channels_last;
  const extent_t N = 2, H = 4, W = 5, C = 3, RR = 3, S = 3, K = 2;
  const extent_t P =
      (H - 1) * O.stride[0] + O.dilation[0] * (RR - 1) + 1 - 2 * O.padding[0] + extra;
  const extent_t Q = (W - 1) * O.stride[1] + O.dilation[1] * (S - 1) + 1 - 2 * O.padding[1] + extra;
  picture<float> x(last, N, C, {H, W}, 1), y(last, N, K, {P, Q}, 3), want(last, N, K, {P, Q}, 4);
  filters<float> f(last, C, K, {RR, S}, 2);
  std::fill(want.a.data.begin(), want.a.data.end(), 0.0f);
  for (extent_t n = 0; n < N; ++n)  // scatter, as the definition says
    for (extent_t h = 0; h < H; ++h)
      for (extent_t w = 0; w < W; ++w)
        for (extent_t r = 0; r < RR; ++r)
          for (extent_t s = 0; s < S; ++s) {
            const extent_t p = h * O.stride[0] + r * O.dilation[0] - O.padding[0];
            const extent_t q = w * O.stride[1] + s * O.dilation[1] - O.padding[1];
            if (!inside(p, P) || !inside(q, Q)) continue;
            for (extent_t k = 0; k < K; ++k)
              for (extent_t c = 0; c < C; ++c) want(n, k, p, q) += x(n, c, h, w) * f(c, k, r, s);
          }
  run_both(
      ops::conv2d_transposed<float, float, O>,
      {{"N", N}, {"H", H}, {"W", W}, {"C", C}, {"R", RR}, {"S", S}, {"K", K}, {"P", P}, {"Q", Q}},
      {x.a.data.data(), f.a.data.data(), y.a.data.data()});
  check_same(y.a, want.a);
}

template <pool_options O>
void check_pool() {
  const bool last = O.order == ops::layout::channels_last;
  const extent_t N = 2, H = 7, W = 6, C = 3;
  const extent_t P = (H + 2 * O.padding[0] - O.window[0]) / O.stride[0] + 1;
  const extent_t Q = (W + 2 * O.padding[1] - O.window[1]) / O.stride[1] + 1;
  picture<float> x(last, N, C, {H, W}, 1), y(last, N, C, {P, Q}, 3), largest(last, N, C, {P, Q}, 4),
      mean(last, N, C, {P, Q}, 4);
  for (float& v : x.a.data) v -= 20;  // so that a zero from outside would show in the maximum
  for (extent_t n = 0; n < N; ++n)
    for (extent_t p = 0; p < P; ++p)
      for (extent_t q = 0; q < Q; ++q)
        for (extent_t c = 0; c < C; ++c) {
          float best = -1e30f, total = 0;
          int count = 0;
          for (extent_t r = 0; r < O.window[0]; ++r)
            for (extent_t s = 0; s < O.window[1]; ++s) {
              const extent_t h = p * O.stride[0] + r - O.padding[0],
                             w = q * O.stride[1] + s - O.padding[1];
              if (!inside(h, H) || !inside(w, W)) continue;
              best = std::max(best, x(n, c, h, w));
              total += x(n, c, h, w);
              ++count;
            }
          largest(n, c, p, q) = best;
          mean(n, c, p, q) =
              total / static_cast<float>(O.count_padding ? O.window[0] * O.window[1] : count);
        }
  const dim_values dims{{"N", N}, {"H", H}, {"W", W}, {"C", C}, {"P", P}, {"Q", Q}};
  run_both(ops::max_pool2d<float, O>, dims, {x.a.data.data(), y.a.data.data()});
  check_same(y.a, largest.a);
  run_both(ops::avg_pool2d<float, O>, dims, {x.a.data.data(), y.a.data.data()});
  check_near(y.a, mean.a);
}

constexpr auto first = ops::layout::channels_first;

}  // namespace

TEST_CASE("conv1d") {
  check_conv1d<float, float, conv_options{}>();
  check_conv1d<float, float, conv_options{.stride = 2, .padding = 1, .dilation = 2}>();
  check_conv1d<float, float, conv_options{.padding = 2, .groups = 2, .order = first}>();
  check_conv1d<std::int8_t, std::int32_t, conv_options{.stride = 2, .padding = 1}>();
}

TEST_CASE("conv2d: stride, padding, dilation, groups, both layouts, integer types") {
  check_conv2d<float, float, conv_options{}>();
  check_conv2d<float, float, conv_options{.stride = 2, .padding = 1}>();
  check_conv2d<float, float,
               conv_options{.stride = {2, 1}, .padding = {1, 0}, .dilation = {1, 2}}>();
  check_conv2d<float, float, conv_options{.padding = 1, .groups = 2}>();
  check_conv2d<float, float, conv_options{.padding = 1, .order = first}>();
  check_conv2d<double, double,
               conv_options{
                   .stride = 2, .padding = 2, .dilation = 2, .groups = 2, .order = first}>();
  check_conv2d<std::uint8_t, std::int32_t, conv_options{.padding = 1}>();
}

TEST_CASE("conv2d with bias and activation") {
  check_conv2d<float, float, conv_options{.padding = 1}, true>();
  check_conv2d<float, float, conv_options{.padding = 1, .order = first}, true,
               ops::activation::relu>();
}

TEST_CASE("conv3d") {
  check_conv3d<float, conv_options{.stride = {2, 1, 1}, .padding = {0, 1, 1}}>();
  check_conv3d<double, conv_options{.padding = 1, .dilation = {2, 1, 2}, .order = first}>();
}

TEST_CASE("depthwise and transposed convolutions") {
  check_depthwise<conv_options{.stride = 2, .padding = 1}>();
  check_depthwise<conv_options{.dilation = 2, .order = first}>();
  check_transposed<conv_options{}>(0);
  check_transposed<conv_options{.stride = 2, .padding = 1}>(1);
  check_transposed<conv_options{
      .stride = {3, 2}, .padding = {0, 2}, .dilation = 2, .order = first}>(1);
}

TEST_CASE("pooling") {
  check_pool<pool_options{}>();
  check_pool<pool_options{.window = 3, .stride = 2, .padding = 1}>();
  check_pool<pool_options{
      .window = {3, 2}, .stride = 1, .padding = {1, 0}, .count_padding = true, .order = first}>();
  picture<float> x(true, 2, 3, {4, 5}, 1);
  array<float> y({2, 3}), want({2, 3});
  for (extent_t n = 0; n < 2; ++n)
    for (extent_t c = 0; c < 3; ++c) {
      for (extent_t h = 0; h < 4; ++h)
        for (extent_t w = 0; w < 5; ++w) want(n, c) += x(n, c, h, w);
      want(n, c) /= 20;
    }
  run_both(ops::global_avg_pool2d<float>, {{"N", 2}, {"C", 3}, {"H", 4}, {"W", 5}},
           {x.a.data.data(), y.data.data()});
  check_near(y, want);
}

TEST_CASE("the extents of a convolution's output follow from its input") {
  constexpr auto conv = ops::conv2d<float, float, conv_options{.stride = 2, .padding = 1}>;
  const std::string text = refusal([&] {
    reify(
        conv,
        {{"N", 1}, {"H", 8}, {"W", 8}, {"C", 2}, {"R", 3}, {"S", 3}, {"K", 2}, {"P", 5}, {"Q", 4}});
  });
  CHECK(contains(text, "kernel conv2d: it expects P == "));
  CHECK(contains(text, "P is 5"));
  CHECK(contains(text, "H is 8"));
}

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

TEST_CASE("transpose, permute, concat") {
  array<float> x({3, 4}, 1), t({4, 3}), t_want({4, 3});
  for (extent_t i = 0; i < 3; ++i)
    for (extent_t j = 0; j < 4; ++j) t_want(j, i) = x(i, j);
  run_both(ops::transpose<float>, {{"M", 3}, {"N", 4}}, {x.data.data(), t.data.data()});
  check_same(t, t_want);

  array<std::int16_t> u({2, 3, 4, 5}, 2), v({2, 4, 5, 3}), v_want({2, 4, 5, 3});
  for (extent_t a = 0; a < 2; ++a)
    for (extent_t b = 0; b < 3; ++b)
      for (extent_t c = 0; c < 4; ++c)
        for (extent_t d = 0; d < 5; ++d) v_want(a, c, d, b) = u(a, b, c, d);
  run_both(ops::permute<std::int16_t, 0, 2, 3, 1>, {{"D0", 2}, {"D1", 3}, {"D2", 4}, {"D3", 5}},
           {u.data.data(), v.data.data()});
  check_same(v, v_want);

  array<float> wide({3, 2}, 3), both({3, 6}), both_want({3, 6});
  for (extent_t i = 0; i < 3; ++i)
    for (extent_t j = 0; j < 6; ++j) both_want(i, j) = j < 4 ? x(i, j) : wide(i, j - 4);
  run_both(ops::concat<float>, {{"M", 3}, {"NA", 4}, {"NB", 2}, {"N", 6}},
           {x.data.data(), wide.data.data(), both.data.data()});
  check_same(both, both_want);
  CHECK(contains(refusal([] {
                   reify(ops::concat<float>, {{"M", 3}, {"NA", 4}, {"NB", 2}, {"N", 7}});
                 }),
                 "expects N == NA + NB, but N is 7, NA is 4, NB is 2"));

  array<float> tall({2, 4}, 4), stack({5, 4}), stack_want({5, 4});
  for (extent_t i = 0; i < 5; ++i)
    for (extent_t j = 0; j < 4; ++j) stack_want(i, j) = i < 3 ? x(i, j) : tall(i - 3, j);
  run_both(ops::concat<float, 0>, {{"MA", 3}, {"MB", 2}, {"M", 5}, {"N", 4}},
           {x.data.data(), tall.data.data(), stack.data.data()});
  check_same(stack, stack_want);
}

TEST_CASE("elementwise chains") {
  array<float> x({3, 4}, 1), z({3, 4}, 2), y({3, 4}), want({3, 4});
  for (extent_t i = 0; i < 3; ++i)
    for (extent_t j = 0; j < 4; ++j)
      want(i, j) =
          static_cast<float>(std::exp(-std::abs(std::tanh(static_cast<double>(x(i, j)))) * 2.0));
  constexpr auto chain = ops::map<float, 2>([](auto v) { return exp(-abs(tanh(v)) * 2.0f); });
  run_both(chain, {{"D0", 3}, {"D1", 4}}, {x.data.data(), y.data.data()});
  check_near(y, want);

  for (extent_t i = 0; i < 3; ++i)
    for (extent_t j = 0; j < 4; ++j) want(i, j) = std::max(x(i, j), z(i, j)) * 3 + 1;
  constexpr auto pair = ops::zip<float, 2>([](auto a, auto b) { return max(a, b) * 3.0f + 1.0f; });
  run_both(pair, {{"D0", 3}, {"D1", 4}}, {x.data.data(), z.data.data(), y.data.data()});
  check_same(y, want);

  array<float> bias({4}, 5);
  for (extent_t i = 0; i < 3; ++i)
    for (extent_t j = 0; j < 4; ++j) want(i, j) = std::max(x(i, j) + bias(j), 0.0f);
  run_both(ops::bias_add<float, ops::activation::relu>, {{"M", 3}, {"N", 4}},
           {x.data.data(), bias.data.data(), y.data.data()});
  check_same(y, want);

  const float alpha = -2;
  array<float> line({6}, 6), sum({6}, 7), sum_want({6});
  for (extent_t i = 0; i < 6; ++i) sum_want(i) = alpha * line(i) + sum(i);
  run_both(ops::axpy<float>, {{"N", 6}}, {&alpha, line.data.data(), sum.data.data()});
  check_same(sum, sum_want);
}
