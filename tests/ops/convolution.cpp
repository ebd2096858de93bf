#include <tilewright/ops/convolution.hpp>

#include <doctest/doctest.h>

#include <ops/picture.hpp>

using namespace test_kernels;
using namespace test_ops;
using ops::conv_options;

namespace {

extent_t windows(extent_t in, extent_t window, const conv_options& o, int d) {
  return (in + 2 * o.padding[d] - o.dilation[d] * (window - 1) - 1) / o.stride[d] + 1;
}

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

/// What follows the sums of a conv2d.
enum class epilogue { none, bias, scale_shift };

template <class T, class R, conv_options O, epilogue After = epilogue::none,
          ops::activation A = ops::activation::none>
void check_conv2d() {
  const bool last = O.order == ops::layout::channels_last;
  const extent_t N = 2, H = 8, W = 7, CI = 4, RR = 3, S = 2, K = 6, C = CI / O.groups;
  const extent_t P = windows(H, RR, O, 0), Q = windows(W, S, O, 1);
  picture<T> x(last, N, CI, {H, W}, 1);
  filters<T> f(last, C, K, {RR, S}, 2);
  array<R> scale({K}, 6), bias({K}, 5);
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
          if (After == epilogue::scale_shift) total *= scale(k);
          if (After != epilogue::none) total += bias(k);
          if (A == ops::activation::relu) total = std::max<R>(total, 0);
          want(n, k, p, q) = total;
        }
  dim_values dims{{"N", N}, {"H", H}, {"W", W}, {"C", C}, {"R", RR},
                  {"S", S}, {"K", K}, {"P", P}, {"Q", Q}};
  if (O.groups > 1) dims["CI"] = CI;
  if constexpr (After == epilogue::scale_shift)
    run_both(
        ops::conv2d_scale_shift<T, R, O, A>, dims,
        {x.a.data.data(), f.a.data.data(), scale.data.data(), bias.data.data(), y.a.data.data()});
  else if constexpr (After == epilogue::bias)
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

template <conv_options O, ops::filter_order Order = ops::filter_order::of_layout>
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
  array<float> input_first({C, K, RR, S});
  for (extent_t c = 0; c < C; ++c)
    for (extent_t k = 0; k < K; ++k)
      for (extent_t r = 0; r < RR; ++r)
        for (extent_t s = 0; s < S; ++s) input_first(c, k, r, s) = f(c, k, r, s);
  const bool of_layout = Order == ops::filter_order::of_layout;
  run_both(
      ops::conv2d_transposed<float, float, O, Order>,
      {{"N", N}, {"H", H}, {"W", W}, {"C", C}, {"R", RR}, {"S", S}, {"K", K}, {"P", P}, {"Q", Q}},
      {x.a.data.data(), of_layout ? f.a.data.data() : input_first.data.data(), y.a.data.data()});
  check_same(y.a, want.a);
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
  check_conv2d<float, float, conv_options{.padding = 1}, epilogue::bias>();
  check_conv2d<float, float, conv_options{.padding = 1, .order = first}, epilogue::bias,
               ops::activation::relu>();
}

TEST_CASE("conv2d with scale, shift and activation") {
  check_conv2d<double, double, conv_options{.stride = 2, .padding = 1}, epilogue::scale_shift>();
  check_conv2d<float, float, conv_options{.padding = 1, .groups = 2, .order = first},
               epilogue::scale_shift, ops::activation::relu>();
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

TEST_CASE("filters of transposed convolutions in PyTorch's order") {
  constexpr auto input_first = ops::filter_order::input_first;
  check_transposed<conv_options{.stride = 2, .padding = 1, .order = first}, input_first>(1);
  check_transposed<conv_options{.stride = 2, .padding = 1}, input_first>(0);
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
