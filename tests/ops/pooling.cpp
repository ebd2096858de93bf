#include <tilewright/ops/pooling.hpp>

#include <algorithm>

#include <doctest/doctest.h>

#include <ops/picture.hpp>

using namespace test_kernels;
using namespace test_ops;
using ops::pool_options;

namespace {

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
