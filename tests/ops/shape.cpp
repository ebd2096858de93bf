#include <tilewright/ops/shape.hpp>

#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include <ops/array.hpp>

using namespace test_kernels;
using namespace test_ops;

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
