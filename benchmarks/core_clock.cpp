#include "core_clock.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

namespace bench {

double gigahertz() {
  using clock = std::chrono::steady_clock;
  constexpr int steps = 5000, cycles = 3;  // of a multiplication
  double least = std::numeric_limits<double>::infinity();
  for (int repeat = 0; repeat < 3; ++repeat) {  // an interrupt makes one longer
    const auto start = clock::now();
    std::uint64_t x = 1;
    for (int i = 0; i < steps; ++i) {
      x *= 0x9e3779b97f4a7c15u;
      asm volatile("" : "+r"(x));  // neither dropped nor combined
    }
    least = std::min(least, std::chrono::duration<double>(clock::now() - start).count());
  }
  return 1e-9 * steps * cycles / least;
}

}  // namespace bench
