#include <tilewright/search/spot_check.hpp>

#include <tilewright/backend/pool.hpp>
#include <tilewright/search/builder.hpp>
#include <tilewright/search/verify.hpp>
#include <tilewright/target/cpu.hpp>

#include <doctest/doctest.h>

#include <cstring>

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

/// Runs `f`, finds it right at the spots, and wrong once one of the spots is changed.
void check_spots(const ir::function& f) {
  const built b = build(f, target::host());
  REQUIRE(b.code);
  runner r(f, {}, backend::serial_executor(), 7);
  REQUIRE(r.run(*b.code).ok());
  const spot_list list = spot_values(f, r, 3);
  INFO(list.skipped);
  CHECK(list.skipped.empty());
  REQUIRE(list.spots.size() == 256);
  auto outputs = r.outputs();
  CHECK(compare_spots(r.operands(), needs_of(f), list, outputs) == "");
  std::byte* at = &outputs[0][static_cast<std::size_t>(list.spots[100].position) * sizeof(float)];
  float v = 0;
  std::memcpy(&v, at, sizeof v);
  v = v * 1.01f + 0.01f;
  std::memcpy(at, &v, sizeof v);
  const std::string wrong = compare_spots(r.operands(), needs_of(f), list, outputs);
  CHECK(wrong.find(" instead of ") != std::string::npos);
}

}  // namespace

TEST_CASE("right outputs pass at the points, and a wrong one is found") {
  check_spots(reify(kernels::matmul_relu, {{"M", 33}, {"N", 40}, {"K", 50}}));
  check_spots(reify(softmax, {{"M", 9}, {"N", 70}}));
  check_spots(reify(border, {{"N", 300}, {"S", 3}}));
  check_spots(reify(kernels::gather, {{"N", 11}, {"M", 50}, {"C", 30}}));
}

TEST_CASE("points beyond the budget are left out") {
  const ir::function f = reify(kernels::matmul_relu, {{"M", 4}, {"N", 4}, {"K", 400000}});
  runner r(f, {}, backend::serial_executor(), 7);
  const spot_list list = spot_values(f, r, 3);
  CHECK(list.spots.size() < 256);
  CHECK(list.skipped.find("budget") != std::string::npos);
}
