#include "errors.hpp"

using namespace harness;

TEST_CASE("errors of the inverse trigonometric functions are within the stated bounds") {
  if (!have_compiler()) return;
  using real = long double;
  check_bounds<float>({{"atan", 2, [](real x) { return std::atan(x); }},
                       {"asin", 2, [](real x) { return std::asin(x); }},
                       {"acos", 2, [](real x) { return std::acos(x); }}},
                      dtype::f32, float_samples());
  check_bounds<double>({{"atan", 2, [](real x) { return std::atan(x); }},
                        {"asin", 2, [](real x) { return std::asin(x); }},
                        {"acos", 2, [](real x) { return std::acos(x); }}},
                       dtype::f64, double_samples());
}

TEST_CASE(
    "the angle of a point, in all quadrants, on the axes, at infinity and without a direction") {
  if (!have_compiler()) return;
  const auto exact = [](long double y, long double x) { return std::atan2(y, x); };
  check_two<float>("atan2", dtype::f32, 2, exact);
  check_two<double>("atan2", dtype::f64, 2, exact);
}
