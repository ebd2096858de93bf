#include "core_clock.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <vector>

namespace bench {
namespace {

/// Steps per second of a chain of dependent operations, each a fixed number of cycles. An interrupt
/// makes a chain longer: the fastest of three counts.
double steps_per_second() {
  using clock = std::chrono::steady_clock;
  constexpr int steps = 5000;
  double least = std::numeric_limits<double>::infinity();
  for (int repeat = 0; repeat < 3; ++repeat) {
    const auto start = clock::now();
    std::uint64_t x = 1;
    for (int i = 0; i < steps; ++i) {
      x = x * 0x9e3779b97f4a7c15u + 1;
      asm volatile("" : "+r"(x));  // neither dropped nor combined
    }
    least = std::min(least, std::chrono::duration<double>(clock::now() - start).count());
  }
  return steps / least;
}

double median_rate() {
  std::vector<double> rates(201);
  for (double& r : rates) r = steps_per_second();
  std::nth_element(rates.begin(), rates.begin() + 100, rates.end());
  return rates[100];
}

}  // namespace

double clock_rate() {
  static const double usual = median_rate();
  return steps_per_second() / usual;
}

}  // namespace bench
