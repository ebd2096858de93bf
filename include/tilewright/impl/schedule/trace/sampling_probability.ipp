// Probabilities of decisions; declared in sampling.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <tilewright/impl/schedule/trace/divisors.hpp>
#include <tilewright/schedule/sampling.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::primitive {
namespace detail::probabilities {

inline constexpr double never = -std::numeric_limits<double>::infinity();

/// Extent of the loop; 0 when it is symbolic.
inline std::int64_t extent_of(const ir::function& f, const ir::var& loop) {
  const ir::expr& e = ir::as_loop(need_loop(f, loop, "log_probability").target())->extent;
  return ir::is_int(e) ? ir::as_int(e) : 0;
}

inline bool multiplies_to(const decision& d, std::int64_t extent) {
  std::int64_t left = extent;
  for (const std::int64_t factor : d) {
    if (factor < 1 || left % factor != 0) return false;
    left /= factor;
  }
  return left == 1;
}

}  // namespace detail::probabilities

TILEWRIGHT_INLINE double log_probability_categorical(const std::vector<double>& weights,
                                                     const decision& d) {
  if (d.size() != 1 || d[0] < 0 || d[0] >= static_cast<std::int64_t>(weights.size()))
    return detail::probabilities::never;
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  return std::log(weights[static_cast<std::size_t>(d[0])] / total);
}

TILEWRIGHT_INLINE double log_probability_perfect_tile(const ir::function& f, const ir::var& loop,
                                                      int n, int max_innermost_factor,
                                                      const decision& d) {
  const std::int64_t extent = detail::probabilities::extent_of(f, loop);
  if (extent < 1 || n == 1) return 0;
  const std::int64_t limit = max_innermost_factor == -1 ? extent : max_innermost_factor;
  if (d.size() != static_cast<std::size_t>(n) || d.back() > limit ||
      !detail::probabilities::multiplies_to(d, extent))
    return detail::probabilities::never;
  const std::vector<detail::prime_power> primes = detail::factorize(extent);
  double count = 0;
  for (const std::int64_t last : detail::divisors(primes))
    if (last <= limit) count += static_cast<double>(detail::factorizations(primes, last, n - 1));
  return -std::log(count);
}

TILEWRIGHT_INLINE double log_probability_partitioned_tile(const ir::function& f,
                                                          const ir::var& loop, int n,
                                                          int partition_pos, int innerpart_factor,
                                                          const decision& d) {
  const std::int64_t extent = detail::probabilities::extent_of(f, loop);
  if (extent < 1 || extent % innerpart_factor != 0) return 0;
  std::int64_t lacking = innerpart_factor;
  if (d.size() != static_cast<std::size_t>(n) || !detail::probabilities::multiplies_to(d, extent))
    return detail::probabilities::never;
  for (std::size_t i = static_cast<std::size_t>(partition_pos); i < d.size(); ++i)
    lacking /= std::gcd(lacking, d[i]);
  if (lacking != 1) return detail::probabilities::never;
  double out = 0;
  for (const detail::prime_power& p : detail::factorize(extent)) {
    double ways = 0;
    int least = 0;
    for (std::int64_t rest = innerpart_factor; rest % p.prime == 0; rest /= p.prime) ++least;
    for (int inner = least; inner <= p.exponent; ++inner) {
      const auto behind = static_cast<double>(detail::distributions(inner, n - partition_pos));
      if (partition_pos > 0)
        ways +=
            behind * static_cast<double>(detail::distributions(p.exponent - inner, partition_pos));
      else if (inner == p.exponent)
        ways += behind;
    }
    out -= std::log(ways);
  }
  return out;
}

TILEWRIGHT_INLINE double log_probability_tile(const ir::function& f, const ir::var& loop, int n,
                                              const std::vector<std::int64_t>& innermost,
                                              const decision& d) {
  std::int64_t rest = detail::probabilities::extent_of(f, loop);
  if (rest < 1) return 0;
  if (d.size() != static_cast<std::size_t>(n)) return detail::probabilities::never;
  double out = 0;
  std::vector<std::int64_t> candidates = detail::tile_candidates(rest, innermost);
  for (std::size_t i = d.size(); i-- > 1;) {
    if (!std::binary_search(candidates.begin(), candidates.end(), d[i]))
      return detail::probabilities::never;
    out -= std::log(static_cast<double>(candidates.size()));
    rest = detail::ceil_divide(rest, d[i]);
    if (i > 1) candidates = detail::part_candidates(rest);
  }
  return d.front() == rest ? out : detail::probabilities::never;
}

TILEWRIGHT_INLINE double log_probability_compute_location(const ir::function& f,
                                                          std::uint64_t block, const decision& d) {
  const std::vector<compute_location> legal = compute_locations(f, block);
  const bool possible =
      d.size() == 1 && support::any(legal, [&](const auto& l) { return l.index == d[0]; });
  return possible ? -std::log(static_cast<double>(legal.size())) : detail::probabilities::never;
}

}  // namespace tilewright::primitive
