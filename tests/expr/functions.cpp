#include <tilewright/expr/functions.hpp>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include <expr/kernels.hpp>

using namespace test_kernels;

namespace {

/// What the kernel of two inputs gives for each pair of elements.
template <class R, class T>
std::vector<R> results(const any_kernel& kernel, const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<R> y(a.size());
  run(kernel, {{"N", static_cast<std::int64_t>(a.size())}}, {a.data(), b.data(), y.data()});
  return y;
}

template <class T, class R, class F>
constexpr auto pairwise(F) {
  return kernel<"pairwise">([](in<"A", T, "N"> A, in<"B", T, "N"> B, out<"Y", R, "N"> Y) {
    using axes::i;
    return Y(i) = F{}(A(i), B(i));
  });
}

/// Compares a function of the elements with the same of the C library.
template <class T, class F>
void check_as_written(F f, double low, double high, double tolerance) {
  std::vector<T> a, b;
  for (int k = 0; k < 40; ++k) {
    a.push_back(static_cast<T>(low + (high - low) * k / 39));
    b.push_back(static_cast<T>(high + (low - high) * ((k * 7) % 40) / 39));
  }
  const std::vector<T> y = results<T>(pairwise<T, T>(f), a, b);
  for (std::size_t k = 0; k < a.size(); ++k) {
    const double want = static_cast<double>(f(a[k], b[k]));
    CHECK(std::abs(static_cast<double>(y[k]) - want) <= tolerance * (1 + std::abs(want)));
  }
}

template <class T>
void check_all(double tolerance) {
  const auto of = [&](auto f, double low, double high) {
    check_as_written<T>(f, low, high, tolerance);
  };
  using namespace std;  // the names of the C library for numbers, ours for elements
  of([](auto x, auto y) { return sin(x) + cos(y); }, -9, 9);
  of([](auto x, auto y) { return tan(x) * atan(y); }, -1.4, 1.4);
  of([](auto x, auto y) { return asin(x) + acos(y); }, -1, 1);
  of([](auto x, auto y) { return sinh(x) + cosh(y); }, -3, 3);
  of([](auto x, auto y) { return asinh(x) + acosh(y); }, 1, 20);
  of([](auto x, auto y) { return atanh(x) + cbrt(y); }, -0.9, 0.9);
  of([](auto x, auto y) { return exp2(x) + expm1(y); }, -4, 4);
  of([](auto x, auto y) { return log2(x) + log10(y) + log1p(x); }, 0.1, 40);
  of([](auto x, auto y) { return atan2(x, y) + hypot(x, y); }, -4, 3);
  of([](auto x, auto y) { return fmod(x, y) + copysign(y, x) + trunc(x); }, 0.5, 40);
}

}  // namespace

TEST_CASE("functions of floating elements are those of the C library") {
  check_all<float>(1e-5);
  check_all<double>(1e-12);
}

TEST_CASE("one of two floating operands may be a literal") {
  const std::vector<float> a{-1.5f, 2.25f}, b{3, -4};
  const std::vector<float> y =
      results<float>(pairwise<float, float>([](auto x, auto z) {
                       return atan2(x, 1.0f) + hypot(2.0f, z) + fmod(x, 2) + copysign(1.0f, z);
                     }),
                     a, b);
  for (std::size_t k = 0; k < a.size(); ++k)
    CHECK(y[k] == doctest::Approx(std::atan2(a[k], 1.0f) + std::hypot(2.0f, b[k]) +
                                  std::fmod(a[k], 2.0f) + std::copysign(1.0f, b[k])));
}

TEST_CASE("tests of floating elements are conditions") {
  const float endless = std::numeric_limits<float>::infinity();
  const std::vector<float> a{1, endless, -endless, std::nanf("")}, b(4);
  const std::vector<float> y = results<float>(pairwise<float, float>([](auto x, auto z) {
                                                return select(isnan(x), 1.0f, z) +
                                                       select(isinf(x), 10.0f, z) +
                                                       select(isfinite(x) & !isnan(z), 100.0f, z);
                                              }),
                                              a, b);
  CHECK(y == std::vector<float>{100, 10, 10, 1});
}

TEST_CASE("bits of integers") {
  const std::vector<std::int32_t> a{0x12345678, -77, 5, -1}, b{0x0ff0, 3, 31, 4};
  const std::vector<std::int32_t> y =
      results<std::int32_t>(pairwise<int, int>([](auto x, auto z) {
                              return (bitwise_and(x, z) ^ bitwise_or(x, 12)) + ~z;
                            }),
                            a, b);
  const std::vector<std::int32_t> shifted = results<std::int32_t>(
      pairwise<int, int>([](auto x, auto z) { return (x >> (z % 8)) ^ (z << 3); }), a, b);
  for (std::size_t k = 0; k < a.size(); ++k) {
    CHECK(y[k] == ((a[k] & b[k]) ^ (a[k] | 12)) + ~b[k]);
    CHECK(shifted[k] == ((a[k] >> (b[k] % 8)) ^ (b[k] << 3)));
  }
}

TEST_CASE("bits are counted in the type of the number") {
  const std::vector<std::int32_t> a{0x12345678, -77, 5, -1}, b{0, 1, 2, 3};
  const std::vector<std::int32_t> y = results<std::int32_t>(
      pairwise<int, int>([](auto x, auto z) { return popcount(x ^ z); }), a, b);
  for (std::size_t k = 0; k < a.size(); ++k)
    CHECK(y[k] == std::popcount(static_cast<std::uint32_t>(a[k] ^ b[k])));
}

TEST_CASE("two numbers of four bits in a byte are taken apart by shifts") {
  const std::vector<std::uint8_t> packed{0x00, 0x7f, 0x80, 0xff}, none(4);
  const std::vector<std::uint8_t> y =
      results<std::uint8_t>(pairwise<std::uint8_t, std::uint8_t>(
                                [](auto x, auto) { return bitwise_and(x, 15) * 16 + (x >> 4); }),
                            packed, none);
  CHECK(y == std::vector<std::uint8_t>{0x00, 0xf7, 0x08, 0xff});
}
