#include "errors.hpp"

using namespace harness;

TEST_CASE("remainders are exact, with the sign of the dividend") {
  if (!have_compiler()) return;
  const auto exact = [](long double x, long double y) { return std::fmod(x, y); };
  check_two<float>("fmod", dtype::f32, 0, exact);
  check_two<double>("fmod", dtype::f64, 0, exact);
}

TEST_CASE("the remainder of what a quotient is rounded up to the next integer for") {
  if (!have_compiler()) return;
  // quotients just below an integer, and those on both sides of the last that is divided in a vector
  std::vector<double> xs, ys;
  for (int k = 1; k <= 4096; ++k) {
    const double y = 1 + k * 0x1p-52, x = y * k;
    for (const double near : {x, std::nextafter(x, 0.0), std::nextafter(x, 1e300)}) {
      xs.push_back(near);
      ys.push_back(y);
    }
    xs.push_back(std::ldexp(x, 40 + k % 16));
    ys.push_back(-y);
  }
  for (const target::cpu& cpu : runnable_targets()) {
    const std::vector<double> zs = evaluate_two("fmod", dtype::f64, xs, ys, cpu);
    int wrong = 0;
    for (std::size_t i = 0; i < xs.size(); ++i) wrong += zs[i] != std::fmod(xs[i], ys[i]);
    CAPTURE(cpu.name);
    CHECK(wrong == 0);
  }
}
