#include "errors.hpp"

using namespace harness;

TEST_CASE("errors of cube roots are within the stated bounds") {
  if (!have_compiler()) return;
  using real = long double;
  check_bounds<float>({{"cbrt", 1, [](real x) { return std::cbrt(x); }}}, dtype::f32,
                      float_samples());
  check_bounds<double>({{"cbrt", 1, [](real x) { return std::cbrt(x); }}}, dtype::f64,
                       double_samples());
}
