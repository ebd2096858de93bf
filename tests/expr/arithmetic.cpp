#include <tilewright/expr/arithmetic.hpp>

#include <algorithm>
#include <memory>

#include <doctest/doctest.h>

#include <expr/kernels.hpp>

using namespace test_kernels;

namespace {

/// Runs an elementwise kernel of two inputs and compares with a function of the elements.
template <class T, class R, class F>
void check(const any_kernel& kernel, const std::vector<T>& a, const std::vector<T>& b, F f,
           double tolerance = 0) {
  const auto y_data = std::make_unique<R[]>(a.size());
  R* const y = y_data.get();
  run(kernel, {{"N", static_cast<std::int64_t>(a.size())}}, {a.data(), b.data(), y});
  for (std::size_t k = 0; k < a.size(); ++k) {
    const R want = static_cast<R>(f(a[k], b[k]));
    const double difference = std::abs(static_cast<double>(y[k]) - static_cast<double>(want));
    CHECK_MESSAGE(difference <= tolerance * (1 + std::abs(static_cast<double>(want))),
                  kernel.name() << ": element " << k);
  }
}

template <class T, class R, class F>
constexpr auto pairwise(F) {
  return kernel<"pairwise">([](in<"A", T, "N"> A, in<"B", T, "N"> B, out<"Y", R, "N"> Y) {
    using axes::i;
    return Y(i) = F{}(A(i), B(i));
  });
}

std::int32_t floor_quotient(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(std::floor(static_cast<double>(a) / b));
}

}  // namespace

TEST_CASE("float operators and functions") {
  const std::vector<float> a = numbers(40, 1);
  std::vector<float> b = numbers(40, 2);
  for (float& v : b) v = v == 0 ? 1 : v;
  check<float, float>(pairwise<float, float>([](auto x, auto y) { return x + y * 2 - 1.0f; }), a, b,
                      [](float x, float y) { return x + y * 2 - 1.0f; });
  check<float, float>(pairwise<float, float>([](auto x, auto y) { return -x / y; }), a, b,
                      [](float x, float y) { return -x / y; });
  check<float, float>(
      pairwise<float, float>([](auto x, auto y) { return max(x, y) - min(x, 1) + abs(y); }), a, b,
      [](float x, float y) { return std::max(x, y) - std::min(x, 1.0f) + std::abs(y); });
  check<float, float>(
      pairwise<float, float>([](auto x, auto y) { return exp(x) + tanh(y) + erf(x) + sigmoid(y); }),
      a, b,
      [](double x, double y) {
        return std::exp(x) + std::tanh(y) + std::erf(x) + 1 / (1 + std::exp(-y));
      },
      1e-6);
  check<float, float>(
      pairwise<float, float>([](auto x, auto y) {
        return sqrt(abs(x)) + rsqrt(abs(y)) + log(abs(y)) + pow(abs(y), x);
      }),
      a, b,
      [](double x, double y) {
        const double z = std::abs(y);
        return std::sqrt(std::abs(x)) + 1 / std::sqrt(z) + std::log(z) + std::pow(z, x);
      },
      1e-5);
  check<float, float>(pairwise<float, float>([](auto x, auto y) {
                        return floor(x / 4) + ceil(y / 4) * 100 + round(x / 2) * 10000;
                      }),
                      a, b, [](float x, float y) {
                        return std::floor(x / 4) + std::ceil(y / 4) * 100 +
                               std::nearbyint(x / 2) * 10000;
                      });
}

TEST_CASE("integer division and remainder round towards minus infinity") {
  const std::vector<std::int32_t> a = numbers<std::int32_t>(40, 3);
  std::vector<std::int32_t> b = numbers<std::int32_t>(40, 4);
  for (std::int32_t& v : b) v = v == 0 ? 3 : v;
  check<std::int32_t, std::int32_t>(pairwise<int, int>([](auto x, auto y) { return x / y; }), a, b,
                                    floor_quotient);
  check<std::int32_t, std::int32_t>(
      pairwise<int, int>([](auto x, auto y) { return x % y; }), a, b,
      [](std::int32_t x, std::int32_t y) { return x - y * floor_quotient(x, y); });
  check<std::int32_t, std::int32_t>(
      pairwise<int, int>([](auto x, auto y) { return abs(x) * -y + 7; }), a, b,
      [](int x, int y) { return std::abs(x) * -y + 7; });
  // an unsigned value is its own magnitude
  const std::vector<std::uint8_t> large = numbers<std::uint8_t>(40, 5);
  check<std::uint8_t, std::uint8_t>(
      pairwise<std::uint8_t, std::uint8_t>([](auto x, auto y) { return max(abs(x), y); }), large,
      numbers<std::uint8_t>(40, 6), [](std::uint8_t x, std::uint8_t y) { return std::max(x, y); });
}

TEST_CASE("comparisons and logic") {
  const std::vector<float> a = numbers(40, 5), b = numbers(40, 6);
  check<float, bool>(
      pairwise<float, bool>([](auto x, auto y) { return (x < y) | ((x >= 4) & !(y == 2)); }), a, b,
      [](float x, float y) { return x < y || (x >= 4 && !(y == 2)); });
  check<float, bool>(pairwise<float, bool>([](auto x, auto y) {
                       return logical_or(x > y, logical_and(x <= 0, logical_not(y != 1)));
                     }),
                     a, b, [](float x, float y) { return x > y || (x <= 0 && !(y != 1)); });
  check<float, float>(pairwise<float, float>([](auto x, auto y) {
                        return select(x < y, x, 0) + select(y > 0, 1.0f, 2.0f);
                      }),
                      a, b,
                      [](float x, float y) { return (x < y ? x : 0) + (y > 0 ? 1.0f : 2.0f); });
}

TEST_CASE("casts between element types") {
  const std::vector<float> a = numbers(20, 7), b = numbers(20, 8);
  check<float, std::int8_t>(pairwise<float, std::int8_t>([](auto x, auto y) {
                              return cast<std::int8_t>(x * 0.5f) + cast<std::int8_t>(y);
                            }),
                            a, b, [](float x, float y) {
                              return static_cast<std::int8_t>(static_cast<std::int8_t>(x * 0.5f) +
                                                              static_cast<std::int8_t>(y));
                            });
  check<float, double>(pairwise<float, double>(
                           [](auto x, auto y) { return cast<double>(x) / cast<double>(y + 20); }),
                       a, b, [](double x, double y) { return x / (y + 20); });
}

TEST_CASE("half types are computed in float and rounded when stored") {
  std::vector<float16> a, b;
  for (float v : numbers(20, 9)) a.push_back(float16(v / 3));
  for (float v : numbers(20, 10)) b.push_back(float16(v / 7));
  check<float16, float16>(pairwise<float16, float16>([](auto x, auto y) { return x * y; }), a, b,
                          [](float16 x, float16 y) { return float16(float(x) * float(y)); });
  std::vector<bfloat16> c, d;
  for (float v : numbers(20, 11)) c.push_back(bfloat16(v / 3));
  for (float v : numbers(20, 12)) d.push_back(bfloat16(v / 7));
  check<bfloat16, float>(
      pairwise<bfloat16, float>([](auto x, auto y) { return cast<float>(x) + cast<float>(y); }), c,
      d, [](bfloat16 x, bfloat16 y) { return float(x) + float(y); });
}

TEST_CASE("an axis is a value, and its arithmetic has floor semantics") {
  constexpr auto k = kernel<"positions">([](out<"F", float, "N"> F, out<"Q", std::int64_t, "N"> Q) {
    using axes::i;
    return blocks(F(i) = cast<float>(i) * 0.5f + cast<float>(extent<"N">),
                  Q(i) = (i - 3) / 2 * 10 + (i - 3) % 2);
  });
  std::vector<float> f(8);
  std::vector<std::int64_t> q(8);
  run(k, {{"N", 8}}, {f.data(), q.data()});
  for (int i = 0; i < 8; ++i) {
    CHECK(f[static_cast<std::size_t>(i)] == static_cast<float>(i) * 0.5f + 8);
    const int floor = static_cast<int>(std::floor((i - 3) / 2.0));
    CHECK(q[static_cast<std::size_t>(i)] == floor * 10 + (i - 3 - 2 * floor));
  }
}

TEST_CASE("scalars read with and without parentheses") {
  constexpr auto k = kernel<"affine">([](in<"alpha", float> alpha, in<"beta", float> beta,
                                         in<"X", float, "N"> X, out<"Y", float, "N"> Y) {
    using axes::i;
    return Y(i) = alpha * X(i) + beta();
  });
  const ir::function f = reify(k, {{"N", 4}});
  CHECK_FALSE(f.params[0].buffer);
  CHECK(f.params[0].scalar->name == "alpha");
  const std::vector<float> x = numbers(4, 1);
  std::vector<float> y(4);
  const float alpha = 3, beta = -2;
  run(k, {{"N", 4}}, {&alpha, &beta, x.data(), y.data()});
  for (std::size_t i = 0; i < 4; ++i) CHECK(y[i] == alpha * x[i] + beta);
}
