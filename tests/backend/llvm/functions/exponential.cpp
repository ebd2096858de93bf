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

TEST_CASE("functions that are their argument near 0 are that down to the smallest numbers") {
  if (!have_compiler()) return;
  const std::vector<double> xs{5e-324,   -5e-324,   1.5e-323, -1.5e-323,
                               2.3e-308, -2.3e-308, 0.0,      -0.0};
  for (const target::cpu& cpu : runnable_targets())
    for (const char* name : {"log1p", "expm1", "sinh", "asinh", "atanh", "atan", "asin"}) {
      CAPTURE(cpu.name);
      CAPTURE(name);
      const std::vector<double> ys = evaluate(name, dtype::f64, xs, cpu);
      for (std::size_t i = 0; i < xs.size(); ++i)
        CHECK(std::bit_cast<std::uint64_t>(ys[i]) == std::bit_cast<std::uint64_t>(xs[i]));
    }
}
