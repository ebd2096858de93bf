#include "errors.hpp"

using namespace harness;

TEST_CASE("hypotenuses of all sizes, beyond the squares' range too") {
  if (!have_compiler()) return;
  const auto exact = [](long double x, long double y) { return std::hypot(x, y); };
  check_two<float>("hypot", dtype::f32, 1.5, exact);
  check_two<double>("hypot", dtype::f64, 1.5, exact);
}
