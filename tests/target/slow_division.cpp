#include <tilewright/impl/target/slow_division.hpp>

#include <doctest/doctest.h>

using namespace tilewright;

TEST_CASE("whole vectors are divided slowly where there are fused multiply-adds") {
  const auto slow = [](const char* cpu, dtype type, int lanes) {
    return target::divides_slowly(target::named(cpu), type, lanes);
  };
  CHECK(slow("haswell", dtype::f32, 8));
  CHECK(slow("haswell", dtype::f64, 4));
  CHECK_FALSE(slow("haswell", dtype::f32, 4));
  CHECK_FALSE(slow("haswell", dtype::f64, 2));
  CHECK_FALSE(slow("ivybridge", dtype::f32, 8));
  CHECK(slow("znver4", dtype::f32, 16));
  CHECK(slow("sapphirerapids", dtype::f32, 16));
}

TEST_CASE("Zen 5 divides f32 as fast as it multiplies and adds three times, f64 more slowly") {
  const target::cpu zen5 = target::named("znver5");
  CHECK_FALSE(target::divides_slowly(zen5, dtype::f32, 16));
  CHECK_FALSE(target::divides_slowly(zen5, dtype::f16, 16));
  CHECK(target::divides_slowly(zen5, dtype::f64, 8));
}
