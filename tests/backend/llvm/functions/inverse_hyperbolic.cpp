#include "errors.hpp"

using namespace harness;

TEST_CASE("errors of the inverse hyperbolic functions are within the stated bounds") {
  if (!have_compiler()) return;
  using real = long double;
  check_bounds<float>({{"asinh", 2, [](real x) { return std::asinh(x); }},
                       {"acosh", 2, [](real x) { return std::acosh(x); }},
                       {"atanh", 2.5, [](real x) { return std::atanh(x); }}},
                      dtype::f32, float_samples());
  check_bounds<double>({{"asinh", 2, [](real x) { return std::asinh(x); }},
                        {"acosh", 2, [](real x) { return std::acosh(x); }},
                        {"atanh", 2, [](real x) { return std::atanh(x); }}},
                       dtype::f64, double_samples());
}
