#include "peak.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

namespace bench {
namespace {

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point start) {
  return std::chrono::duration<double>(clock::now() - start).count();
}

// Vector types of the compiler: with -march=native each accumulator is one register.
#if defined(__AVX512F__)
constexpr int vector_bytes = 64, accumulators = 24;
#elif defined(__AVX__)
constexpr int vector_bytes = 32, accumulators = 12;
#else
constexpr int vector_bytes = 16, accumulators = 12;
#endif
using vec = float __attribute__((vector_size(vector_bytes)));
constexpr int lanes = vector_bytes / 4;

float sink;

}  // namespace

double fma_peak_gflops() {
  constexpr std::int64_t rounds = 2'000'000;
  double best = 0;
  for (int repeat = 0; repeat < 15; ++repeat) {
    vec acc[accumulators], x, y;
    for (int l = 0; l < lanes; ++l) x[l] = 1.0f + 1e-7f * sink, y[l] = 1e-9f;
    for (int a = 0; a < accumulators; ++a) acc[a] = x * static_cast<float>(a);
    const auto start = clock::now();
    for (std::int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 32
      for (int a = 0; a < accumulators; ++a) acc[a] = acc[a] * x + y;
    }
    const double seconds = seconds_since(start);
    for (int a = 1; a < accumulators; ++a) acc[0] += acc[a];
    sink = acc[0][0] > 1e30f ? 1.0f : 0.0f;
    best =
        std::max(best, 2.0 * lanes * accumulators * static_cast<double>(rounds) / seconds * 1e-9);
  }
  return best;
}

double read_bandwidth_gbs() {
  const std::vector<float> data(64 << 20, 1.0f);  // 256 MiB
  double best = 0;
  for (int repeat = 0; repeat < 5; ++repeat) {
    vec sum[4] = {};
    const auto start = clock::now();
    for (std::size_t i = 0; i + 4 * lanes <= data.size(); i += 4 * lanes)
      for (std::size_t a = 0; a < 4; ++a) {
        vec v;
        __builtin_memcpy(&v, data.data() + i + a * lanes, sizeof v);
        sum[a] += v;
      }
    const double seconds = seconds_since(start);
    sink = sum[0][0] + sum[1][0] + sum[2][0] + sum[3][0] > 1e30f ? 1.0f : 0.0f;
    best = std::max(best, static_cast<double>(data.size() * 4) / seconds * 1e-9);
  }
  return best;
}

}  // namespace bench
