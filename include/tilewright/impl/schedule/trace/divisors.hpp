// Prime factors, divisors, the number of ordered factorizations, and sizes of tiles to try.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace tilewright::primitive::detail {

struct prime_power {
  std::int64_t prime = 1;
  int exponent = 0;
};

/// Prime factorization of n > 0. A cofactor without prime factors below 2^21 counts as a prime.
inline std::vector<prime_power> factorize(std::int64_t n) {
  constexpr std::int64_t last = std::int64_t{1} << 21;
  std::vector<prime_power> out;
  for (std::int64_t p = 2; p <= last && p * p <= n; p += p == 2 ? 1 : 2) {
    if (n % p != 0) continue;
    out.push_back({p, 0});
    for (; n % p == 0; n /= p) ++out.back().exponent;
  }
  if (n > 1) out.push_back({n, 1});
  return out;
}

/// All divisors, ascending.
inline std::vector<std::int64_t> divisors(const std::vector<prime_power>& primes) {
  std::vector<std::int64_t> out{1};
  for (const prime_power& p : primes) {
    const std::size_t before = out.size();
    std::int64_t power = 1;
    for (int e = 1; e <= p.exponent; ++e) {
      power *= p.prime;
      for (std::size_t i = 0; i < before; ++i) out.push_back(out[i] * power);
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// n over k for small arguments.
inline std::uint64_t binomial(std::uint64_t n, std::uint64_t k) {
  std::uint64_t out = 1;
  for (std::uint64_t i = 1; i <= k; ++i) out = out * (n - k + i) / i;
  return out;
}

/// Ways to distribute the exponent of one prime over `parts` >= 1 places.
inline std::uint64_t distributions(int exponent, int parts) {
  return binomial(static_cast<std::uint64_t>(exponent + parts - 1),
                  static_cast<std::uint64_t>(parts - 1));
}

/// Number of ordered factorizations of n / d into `parts` >= 1 factors, where d divides n.
inline std::uint64_t factorizations(const std::vector<prime_power>& primes_of_n, std::int64_t d,
                                    int parts) {
  std::uint64_t out = 1;
  for (const prime_power& p : primes_of_n) {
    int left = p.exponent;
    for (; d % p.prime == 0; d /= p.prime) --left;
    out *= distributions(left, parts);
  }
  return out;
}

inline std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Sizes worth trying for a part of `extent`: powers of two, divisors, and the even parts.
inline std::vector<std::int64_t> part_candidates(std::int64_t extent) {
  std::vector<std::int64_t> out = divisors(factorize(extent));
  for (std::int64_t power = 1; power <= extent / 2; power *= 2) out.push_back(power * 2);
  for (std::int64_t parts = 2; parts <= 4; ++parts) out.push_back(ceil_divide(extent, parts));
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

/// The innermost factors of a tile: those wanted, clamped to the extent, ascending, each once.
inline std::vector<std::int64_t> tile_candidates(std::int64_t extent,
                                                 std::vector<std::int64_t> wanted) {
  for (std::int64_t& c : wanted) c = std::min(c, extent);
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  return wanted;
}

}  // namespace tilewright::primitive::detail
