#include <tilewright/search/roofline.hpp>

#include <tilewright/backend/compile.hpp>

#include <doctest/doctest.h>

#include <cmath>

using namespace tilewright;
using namespace tilewright::search;

TEST_CASE("the slower one of arithmetic and memory bounds the time") {
  const roofline r{100, 10};
  CHECK(bound_seconds(r, 1000, 10, 1) == doctest::Approx(10));
  CHECK(bound_seconds(r, 1000, 500, 1) == doctest::Approx(50));
  CHECK(bound_seconds(r, 1000, 100, 1) == doctest::Approx(10));  // at the ridge both take as long
}

TEST_CASE("threads share the work") {
  const roofline r{100, 10};
  CHECK(bound_seconds(r, 1000, 0, 4) == doctest::Approx(2.5));
  CHECK(bound_seconds(r, 0, 500, 4) == doctest::Approx(12.5));
  CHECK(bound_seconds(r, 1000, 0, 0) == doctest::Approx(10));
}

TEST_CASE("no work takes no time, whatever the rates are") {
  CHECK(bound_seconds({100, 10}, 0, 0, 2) == 0);
  CHECK(bound_seconds({0, 0}, 0, 0, 2) == 0);
}

TEST_CASE("the rates of this machine are measured once, where code can be made") {
  const roofline* r = measured_roofline();
  REQUIRE((r != nullptr) == backend::compiler_available());
  if (!r) return;
  CHECK(std::isfinite(r->flops_per_second));
  CHECK(std::isfinite(r->bytes_per_second));
  CHECK(r->flops_per_second > 0);
  CHECK(r->bytes_per_second > 0);
  CHECK(measured_roofline() == r);
  MESSAGE((r->flops_per_second * 1e-9)
          << " GFLOP/s, " << (r->bytes_per_second * 1e-9) << " GB/s on one core");
}
