#include "errors.hpp"

using namespace harness;

TEST_CASE("errors of log1p and expm1 are within the stated bounds") {
  if (!have_compiler()) return;
  using real = long double;
  check_bounds<float>({{"log1p", 2, [](real x) { return std::log1p(x); }},
                       {"expm1", 2, [](real x) { return std::expm1(x); }}},
                      dtype::f32, float_samples());
  check_bounds<double>({{"log1p", 2, [](real x) { return std::log1p(x); }},
                        {"expm1", 2, [](real x) { return std::expm1(x); }}},
                       dtype::f64, double_samples());
}
