#include "errors.hpp"

using namespace harness;

TEST_CASE("errors of the hyperbolic functions are within the stated bounds") {
  if (!have_compiler()) return;
  using real = long double;
  check_bounds<float>({{"sinh", 2, [](real x) { return std::sinh(x); }},
                       {"cosh", 2, [](real x) { return std::cosh(x); }}},
                      dtype::f32, float_samples());
  check_bounds<double>({{"sinh", 2, [](real x) { return std::sinh(x); }},
                        {"cosh", 2, [](real x) { return std::cosh(x); }}},
                       dtype::f64, double_samples());
}
