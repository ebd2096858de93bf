#include "errors.hpp"

using namespace harness;

TEST_CASE("errors of tangents are within the stated bounds, beside the poles too") {
  if (!have_compiler()) return;
  using real = long double;
  std::vector<float> narrow = float_samples();
  std::vector<double> wide = double_samples();
  for (int k = -30000; k < 30000; ++k) {
    const auto quarter = static_cast<double>(static_cast<real>(k) * 1.57079632679489661923L);
    wide.push_back(quarter);
    wide.push_back(std::nextafter(quarter, 0.0));
    narrow.push_back(static_cast<float>(quarter));
    narrow.push_back(std::nextafter(static_cast<float>(quarter), 0.0f));
  }
  narrow.resize(narrow.size() / 16 * 16);
  wide.resize(wide.size() / 16 * 16);
  // the processor's tangent of extended numbers has too few digits of pi for large ones; those go to the C library
  const auto exact = [](real x) {
    return std::abs(x) > 0x1p20 ? static_cast<real>(std::tan(static_cast<double>(x))) : std::tan(x);
  };
  check_bounds<float>({{"tan", 1, exact}}, dtype::f32, narrow);
  check_bounds<double>({{"tan", 3, exact}}, dtype::f64, wide);
}
