#include <tilewright/search/check/spot_check.hpp>

#include <tilewright/backend/pool.hpp>
#include <tilewright/search/check/verify.hpp>
#include <tilewright/search/measurement/builder.hpp>
#include <tilewright/target/cpu.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <type_traits>
#include <utility>

#include "search/kernels.hpp"

using namespace tilewright;
using namespace tilewright::search;

namespace {

constexpr auto softmax =
    kernel<"softmax">([](in<"X", float, "M", "N"> X, out<"Y", float, "M", "N"> Y) {
      using axes::i, axes::j;
      temp<"P", float, "M"> P;
      temp<"S", float, "M"> S;
      return blocks(P(i) = max<j>(X(i, j)), S(i) = sum<j>(exp(X(i, j) - P(i))),
                    Y(i, j) = exp(X(i, j) - P(i)) / S(i));
    });

constexpr auto border =
    kernel<"border">([](in<"X", float, "N"> X, in<"F", float, "S"> F, out<"Y", float, "N"> Y) {
      using axes::i, axes::s;
      return Y(i) = sum<s>(zero_outside(X)(i + s - 1) * F(s));
    });

constexpr auto peaks = kernel<"peaks">(
    [](in<"X", float, "M", "N"> X, out<"P", std::int32_t, "M"> P, out<"Q", std::int32_t, "M"> Q) {
      using axes::i, axes::j;
      return blocks(P(i) = argmax<j>(X(i, j)), Q(i) = argmin<j>(X(i, j) * X(i, j)));
    });

constexpr auto step =
    kernel<"step">([](inout<"X", float, "N"> X, in<"V", float, "N"> V, in<"dt", float> dt) {
      using axes::i;
      return blocks(X(i) = X(i) * 0.5f, X(i) += V(i) * dt);
    });

constexpr auto interleave =
    kernel<"interleave">([](in<"A", float, "N"> A, in<"B", float, "N"> B, out<"Y", float, "M"> Y) {
      using axes::i;
      return blocks(Y(i * 2 + 1) = B(i), Y(i * 2) = A(i));
    });

constexpr auto quantize = kernel<"quantize">(
    [](in<"X", float16, "N"> X, in<"S", float16, "N"> S, out<"Y", std::int8_t, "N"> Y) {
      using axes::i;
      return Y(i) = cast<std::int8_t>(round(cast<float>(X(i) * S(i)) * 50.0f));
    });

/// Runs `f` and finds it right at `count` of 256 spots; returns them with the outputs.
std::pair<spot_list, std::vector<std::vector<std::byte>>> right_spots(const ir::function& f,
                                                                      std::size_t count) {
  const built b = build(f, target::host());
  REQUIRE(b.code);
  runner r(f, {}, backend::serial_executor(), 7);
  REQUIRE(r.run(*b.code).ok());
  const auto outputs = r.outputs();
  const spot_list list = spot_values(f, r, 3);
  INFO(list.skipped);
  CHECK(list.skipped.empty() == (list.spots.size() == 256));
  CHECK(list.spots.size() >= count);
  CHECK(compare_spots(r.operands(), needs_of(f), list, outputs) == "");
  return {list, outputs};
}

/// `right_spots` at all of them; finds the outputs wrong once one of the spots is changed.
template <class T = float>
void check_spots(const ir::function& f) {
  auto [list, outputs] = right_spots(f, 256);
  const spot& s = list.spots[100];
  std::vector<operand> all = operands(f);
  std::size_t k = 0;
  for (std::size_t i = 0; i < s.operand; ++i) k += all[i].written;
  std::byte* at = &outputs[k][static_cast<std::size_t>(s.position) * sizeof(T)];
  T v{};
  std::memcpy(&v, at, sizeof v);
  v = static_cast<T>(static_cast<double>(v) * 1.01 + (std::is_integral_v<T> ? 1 : 0.01));
  std::memcpy(at, &v, sizeof v);
  const std::string wrong = compare_spots(all, needs_of(f), list, outputs);
  CHECK(wrong.find(" instead of ") != std::string::npos);
}

}  // namespace

TEST_CASE("right outputs pass at the points, and a wrong one is found") {
  check_spots(reify(kernels::matmul_relu, {{"M", 33}, {"N", 40}, {"K", 50}}));
  check_spots(reify(softmax, {{"M", 9}, {"N", 70}}));
  check_spots(reify(border, {{"N", 300}, {"S", 3}}));
  check_spots(reify(kernels::gather, {{"N", 11}, {"M", 50}, {"C", 30}}));
}

TEST_CASE("places of peaks, updates in place and computed store indices are compared too") {
  check_spots<std::int32_t>(reify(peaks, {{"M", 300}, {"N", 70}}));
  check_spots(reify(step, {{"N", 500}}));
  check_spots(reify(interleave, {{"N", 300}, {"M", 600}}));
}

TEST_CASE("integers that rounding decides are left out") {
  // half of the products of two 11-bit numbers are rounded before they are made integers
  const spot_list list = right_spots(reify(quantize, {{"N", 20000}}), 200).first;
  CHECK((list.spots.size() == 256 || list.skipped.find("rounding decides") != std::string::npos));
}

TEST_CASE("points beyond the budget are left out") {
  const ir::function f = reify(kernels::matmul_relu, {{"M", 4}, {"N", 4}, {"K", 400000}});
  runner r(f, {}, backend::serial_executor(), 7);
  const spot_list list = spot_values(f, r, 3);
  CHECK(list.spots.size() < 256);
  CHECK(list.skipped.find("budget") != std::string::npos);
}
