#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include <tilewright/impl/dependence/binding/binding_loops.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/legality/scoped_block.hpp>
#include <tilewright/impl/schedule/trace/divisors.hpp>
#include <tilewright/impl/schedule/trace/tile_decision.hpp>
#include <tilewright/schedule/primitive/movement/compute_at.hpp>
#include <tilewright/schedule/primitive/movement/compute_inline.hpp>
#include <tilewright/schedule/sampling.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/numbers/divisor.hpp>

namespace tilewright::primitive {
namespace detail::sampling {

inline constexpr int most_factors = 10;  // keeps the number of factorizations below 2^64

inline void check_factors(const char* primitive, int n, int fewest, const decision& given) {
  const std::string name = primitive;
  if (n < fewest || n > most_factors)
    throw argument_error(name + ": n is " + std::to_string(n) + "; it must be from " +
                         std::to_string(fewest) + " to " + std::to_string(most_factors));
  if (given.empty()) return;
  if (given.size() != static_cast<std::size_t>(n))
    throw argument_error(name + ": the decision has " + std::to_string(given.size()) +
                         " factors; n is " + std::to_string(n));
}

inline decision repair_perfect(std::int64_t extent, std::int64_t limit, const decision& given) {
  decision out = given;
  for (std::size_t i = out.size(); i-- > 1;) {
    if (given[i] <= 0 || extent % given[i] != 0) out[i] = extent;
    if (i + 1 == out.size()) out[i] = support::largest_divisor(extent, std::min(out[i], limit));
    extent /= out[i];
  }
  out.front() = extent;
  return out;
}

/// The innermost factor d, with the number of factorizations that end in d as its weight.
inline std::int64_t draw_innermost(support::random& random, const std::vector<prime_power>& primes,
                                   int n, std::int64_t limit) {
  std::vector<std::int64_t> candidates = divisors(primes);
  candidates.erase(std::upper_bound(candidates.begin(), candidates.end(), limit), candidates.end());
  std::vector<std::uint64_t> weights;
  std::uint64_t total = 0;
  for (const std::int64_t d : candidates) {
    weights.push_back(factorizations(primes, d, n - 1));
    total += weights.back();
  }
  std::uint64_t at = random.below(total);
  std::size_t i = 0;
  while (at >= weights[i]) at -= weights[i++];
  return candidates[i];
}

/// Number of the `exponent` equal primes that go to the next of `parts` places.
inline int draw_exponent(support::random& random, int exponent, int parts) {
  std::uint64_t at = random.below(distributions(exponent, parts));
  for (int taken = 0; taken < exponent; ++taken) {
    const std::uint64_t ways = distributions(exponent - taken, parts - 1);
    if (at < ways) return taken;
    at -= ways;
  }
  return exponent;
}

/// `exponent` equal primes go to the places [first, first + parts) of `out`.
inline void spread(support::random& random, std::int64_t prime, int exponent, decision& out,
                   int first, int parts) {
  for (int i = 0; exponent > 0 && i < parts; ++i) {
    const int taken = i + 1 == parts ? exponent : draw_exponent(random, exponent, parts - i);
    for (int e = 0; e < taken; ++e) out[static_cast<std::size_t>(first + i)] *= prime;
    exponent -= taken;
  }
}

/// Ways to give `inner` of `exponent` equal primes to the places from `at` on, the rest to those
/// before.
inline std::uint64_t partitioned_ways(int exponent, int inner, int n, int at) {
  const std::uint64_t behind = distributions(inner, n - at);
  if (at == 0) return inner == exponent ? behind : 0;
  return behind * distributions(exponent - inner, at);
}

/// How often `prime` divides n > 0.
inline int exponent_in(std::int64_t n, std::int64_t prime) {
  int out = 0;
  for (; n % prime == 0; n /= prime) ++out;
  return out;
}

/// Uniform: the primes are independent, and of each the ways are counted.
inline decision draw_partitioned(support::random& random, std::int64_t extent, int n, int at,
                                 std::int64_t inner_factor) {
  decision out(static_cast<std::size_t>(n), 1);
  for (const prime_power& p : factorize(extent)) {
    const int least = exponent_in(inner_factor, p.prime);
    std::uint64_t total = 0;
    for (int k = least; k <= p.exponent; ++k) total += partitioned_ways(p.exponent, k, n, at);
    std::uint64_t place = random.below(total);
    int inner = least;
    for (; place >= partitioned_ways(p.exponent, inner, n, at); ++inner)
      place -= partitioned_ways(p.exponent, inner, n, at);
    spread(random, p.prime, p.exponent - inner, out, 0, at);
    spread(random, p.prime, inner, out, at, n - at);
  }
  return out;
}

inline decision repair_partitioned(std::int64_t extent, int at, std::int64_t inner_factor,
                                   const decision& given) {
  decision out = repair_perfect(extent, extent, given);
  if (inner_part_fits(given, at, inner_factor) && inner_part_fits(out, at, inner_factor))
    return out;
  std::fill(out.begin(), out.end(), 1);
  out.front() = extent / inner_factor;
  out[static_cast<std::size_t>(at)] *= inner_factor;
  return out;
}

inline decision draw_perfect(support::random& random, std::int64_t extent, int n,
                             std::int64_t limit) {
  const std::vector<prime_power> primes = factorize(extent);
  decision out(static_cast<std::size_t>(n), 1);
  out.back() = draw_innermost(random, primes, n, limit);
  std::int64_t rest = extent / out.back();
  for (const prime_power& p : primes) {
    int left = 0;
    for (; rest % p.prime == 0; rest /= p.prime) ++left;
    for (std::size_t i = 0; left > 0 && i + 1 < out.size(); ++i) {
      const int parts = n - 1 - static_cast<int>(i);
      const int taken = parts == 1 ? left : draw_exponent(random, left, parts);
      for (int e = 0; e < taken; ++e) out[i] *= p.prime;
      left -= taken;
    }
  }
  return out;
}

inline decision draw_tile(support::random& random, std::int64_t extent, int n,
                          const std::vector<std::int64_t>& innermost) {
  decision out(static_cast<std::size_t>(n), 1);
  std::vector<std::int64_t> candidates = tile_candidates(extent, innermost);
  std::int64_t rest = extent;
  for (std::size_t i = out.size(); i-- > 1;) {
    out[i] = candidates[random.below(candidates.size())];
    rest = ceil_divide(rest, out[i]);
    if (i > 1) candidates = part_candidates(rest);
  }
  out.front() = rest;
  return out;
}

inline decision clamp_tile(std::int64_t extent, const decision& given) {
  decision out = given;
  for (std::size_t i = out.size(); i-- > 1;) {
    out[i] = std::min(given[i], extent);
    extent = ceil_divide(extent, out[i]);
  }
  out.front() = extent;
  return out;
}

/// Which loops around the child drive spatial variables alone, those of all blocks below them.
inline std::vector<char> spatial_loops(const block_scope& scope, std::size_t child) {
  std::vector<char> out(scope[child].loops.size(), 1);
  for (std::size_t c = 0; c < scope.size(); ++c) {
    const driven_loops driven(scope[c]);
    for (std::size_t l = scope.common_loops(child, c); l-- > 0;)
      if (driven.other[l]) out[l] = 0;
  }
  return out;
}

/// Loops of the first consumer to which a block with these consumers might be moved, by structure
/// alone; their positions.
inline std::vector<std::size_t> possible_loops(const block_scope& scope,
                                               const std::vector<std::size_t>& users) {
  std::vector<std::size_t> out;
  if (users.empty()) return out;
  const auto& loops = scope[users.front()].loops;
  std::size_t common = loops.size();
  for (const std::size_t user : users)
    if (user != users.front()) common = std::min(common, scope.common_loops(users.front(), user));
  const std::vector<char> spatial = spatial_loops(scope, users.front());
  bool seen_other = false;
  for (std::size_t i = 0; i < common; ++i) {
    if (ir::is_int(loops[i]->extent, 1)) continue;
    if (spatial[i] && seen_other) break;
    if (!spatial[i]) {
      seen_other = true;
      const auto further = spatial.begin() + static_cast<std::ptrdiff_t>(i);
      if (std::find(further, spatial.end(), 1) == spatial.end()) break;
    }
    out.push_back(i);
  }
  return out;
}

/// The structurally possible places, ascending; whether a place is legal is asked one by one.
inline std::vector<compute_location> possible_locations(const ir::function& f,
                                                        std::uint64_t block) {
  std::vector<compute_location> out{{inline_location, {}}, {root_location, {}}};
  const path at = need_block(f, block, "sample_compute_location");
  if (!at.scope()) return out;
  const scoped_block b(at);
  const block_scope& scope = b.scope;
  const std::vector<std::size_t> users = consumers(scope, b.child);
  for (const std::size_t i : possible_loops(scope, users))
    out.push_back({static_cast<std::int64_t>(i), scope[users.front()].loops[i]->var});
  return out;
}

inline bool is_legal(const ir::function& f, std::uint64_t block, const compute_location& where) {
  if (where.loop) return can_compute_at(f, block, where.loop, true);
  return where.index == root_location || can_compute_inline(f, block);
}

}  // namespace detail::sampling

TILEWRIGHT_INLINE std::int64_t sample_categorical(support::random& random,
                                                  const std::vector<std::int64_t>& candidates,
                                                  const std::vector<double>& weights,
                                                  const decision& given) {
  if (candidates.empty() || candidates.size() != weights.size())
    throw argument_error("sample_categorical: " + std::to_string(candidates.size()) +
                         " candidates and " + std::to_string(weights.size()) +
                         " probabilities; one is needed for each candidate");
  double total = 0;
  for (const double w : weights) {
    if (!std::isfinite(w) || w < 0)
      throw argument_error("sample_categorical: a probability is negative or not finite");
    total += w;
  }
  if (!(total > 0) || !std::isfinite(total))
    throw argument_error("sample_categorical: the probabilities must have a positive, finite sum");
  if (!given.empty()) {
    if (given.size() != 1 || given[0] < 0 ||
        given[0] >= static_cast<std::int64_t>(candidates.size()))
      throw argument_error("sample_categorical: decision " + std::to_string(given[0]) +
                           " is no index of the " + std::to_string(candidates.size()) +
                           " candidates");
    return given[0];
  }
  double at = random.unit() * total;
  std::int64_t last = 0;  // rounding may carry `at` past the end: then the last possible candidate
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] > 0) last = static_cast<std::int64_t>(i);
    if (weights[i] > 0 && at < weights[i]) break;
    at -= weights[i];
  }
  return last;
}

TILEWRIGHT_INLINE decision sample_perfect_tile(support::random& random, const ir::function& f,
                                               const ir::var& loop, int n, int max_innermost_factor,
                                               const decision& given) {
  using namespace detail::sampling;
  check_factors("sample_perfect_tile", n, 1, given);
  if (max_innermost_factor < 1 && max_innermost_factor != -1)
    throw argument_error("sample_perfect_tile: max_innermost_factor is " +
                         std::to_string(max_innermost_factor) +
                         "; it must be positive, or -1 for no limit");
  const ir::expr extent = extent_of(f, loop, "sample_perfect_tile");
  if (!ir::is_int(extent)) return inferred(n, n == 1 ? -1 : 1);
  const std::int64_t size = extent->integer;
  if (given.empty() || size < 1 || n == 1)
    return draw_perfect_tile(random, std::max<std::int64_t>(size, 1), n, max_innermost_factor);
  return repair_perfect(size, max_innermost_factor == -1 ? size : max_innermost_factor, given);
}

TILEWRIGHT_INLINE decision draw_perfect_tile(support::random& random, std::int64_t extent, int n,
                                             int max_innermost_factor) {
  if (n > 1)
    return detail::sampling::draw_perfect(
        random, extent, n, max_innermost_factor == -1 ? extent : max_innermost_factor);
  return {extent};
}

TILEWRIGHT_INLINE decision sample_partitioned_tile(support::random& random, const ir::function& f,
                                                   const ir::var& loop, int n, int partition_pos,
                                                   int innerpart_factor, const decision& given) {
  using namespace detail::sampling;
  check_factors("sample_partitioned_tile", n, 1, given);
  if (partition_pos < 0 || partition_pos >= n || innerpart_factor < 1)
    throw argument_error(
        "sample_partitioned_tile: the partition must be one of the factors, and its factor "
        "positive");
  const ir::expr extent = extent_of(f, loop, "sample_partitioned_tile");
  const std::int64_t size = ir::is_int(extent) ? extent->integer : 0;
  if (size < 1 || size % innerpart_factor != 0) return inferred(n, n == 1 ? -1 : 1);
  if (given.empty()) return draw_partitioned(random, size, n, partition_pos, innerpart_factor);
  return repair_partitioned(size, partition_pos, innerpart_factor, given);
}

TILEWRIGHT_INLINE decision sample_tile(support::random& random, const ir::function& f,
                                       const ir::var& loop, int n,
                                       const std::vector<std::int64_t>& innermost,
                                       const decision& given) {
  using namespace detail::sampling;
  check_factors("sample_tile", n, 2, given);
  const auto positive = [](std::int64_t v) { return v > 0; };
  if (innermost.empty() || !support::all(innermost, positive))
    throw argument_error(
        "sample_tile: the candidates for the innermost factor must be positive, and at least one");
  if (!given.empty() && !std::all_of(given.begin() + 1, given.end(), positive))
    throw argument_error("sample_tile: the factors of a decision must be positive");
  const ir::expr extent = extent_of(f, loop, "sample_tile");
  if (!ir::is_int(extent)) return inferred(n, innermost.front());
  const std::int64_t size = std::max<std::int64_t>(extent->integer, 1);
  return given.empty() ? draw_tile(random, size, n, innermost) : clamp_tile(size, given);
}

TILEWRIGHT_INLINE std::vector<compute_location> compute_locations(const ir::function& f,
                                                                  std::uint64_t block) {
  std::vector<compute_location> out = detail::sampling::possible_locations(f, block);
  std::vector<ir::var> loops;
  for (const compute_location& where : out)
    if (where.loop) loops.push_back(where.loop);
  const std::vector<bool> accepts = can_compute_at(f, block, loops, true);
  auto next = accepts.begin();
  std::erase_if(out, [&](const compute_location& where) {
    return where.loop ? !*next++ : !detail::sampling::is_legal(f, block, where);
  });
  return out;
}

TILEWRIGHT_INLINE compute_location sample_compute_location(support::random& random,
                                                           const ir::function& f,
                                                           std::uint64_t block,
                                                           const decision& given) {
  if (given.empty()) {
    const std::vector<compute_location> legal = compute_locations(f, block);
    return legal[random.below(legal.size())];
  }
  if (given.size() != 1) throw argument_error("sample_compute_location: a decision is one index");
  const std::vector<compute_location> possible = detail::sampling::possible_locations(f, block);
  for (std::size_t i = possible.size(); i-- > 0;)
    if (possible[i].index <= given[0] && detail::sampling::is_legal(f, block, possible[i]))
      return possible[i];
  return {root_location, {}};
}

}  // namespace tilewright::primitive
