#pragma once

#include <algorithm>
#include <numeric>

#include <tilewright/impl/search/program_source.hpp>
#include <tilewright/impl/search/replay_memory.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::search {
namespace detail {

/// Moves a prime factor from one level of a tile to another; nothing when there is none to move.
inline decision move_factor(const decision& tile, support::random& random) {
  std::vector<std::size_t> from;
  for (std::size_t i = 0; i < tile.size(); ++i)
    if (tile[i] > 1) from.push_back(i);
  if (from.empty() || tile.size() < 2) return {};
  const std::size_t a = from[random.below(from.size())];
  std::size_t b = random.below(tile.size() - 1);
  if (b >= a) ++b;
  std::vector<std::int64_t> primes;
  std::int64_t rest = tile[a];
  for (std::int64_t p = 2; p * p <= rest; ++p)
    for (; rest % p == 0; rest /= p) primes.push_back(p);
  if (rest > 1) primes.push_back(rest);
  const std::int64_t p = primes[random.below(primes.size())];
  decision out = tile;
  out[a] /= p;
  out[b] *= p;
  return out;
}

TILEWRIGHT_INLINE std::optional<candidate> replay_or_refuse(const trace& t, const ir::function& f,
                                                            std::uint64_t seed,
                                                            replay_refusal& refusal,
                                                            const finisher& finish) {
  if (const program_source* source = program_source::in(finish)) {
    std::optional<candidate> taken = (*source)(t, seed);
    if (!taken) refusal = {"there is no such program", std::nullopt};
    return taken;
  }
  try {
    schedule s(f, seed);
    constexpr double never = -100;
    double prior = 0;
    const auto add_prior = [&](const trace::step& done) {
      if (done.what->kind->choice != decision_shape::none)
        prior += std::max(log_probability_of_last_step(s), never);
    };
    if (finish) {
      t.without_postproc().apply_to(s, {}, add_prior);
      finish(s);
    } else {
      t.apply_to(s, {}, add_prior);
    }
    const support::hash128 identity = ir::workload_key(s.function());
    return candidate{std::move(s), identity, prior};
  } catch (const internal_error&) {
    throw;
  } catch (const replay_error& e) {
    refusal = {e.what(), e.instruction()};
  } catch (const error& e) {
    refusal = {e.what(), std::nullopt};
  }
  return std::nullopt;
}

}  // namespace detail

TILEWRIGHT_INLINE std::optional<candidate> replay(const trace& t, const ir::function& f,
                                                  std::uint64_t seed, std::string* why,
                                                  const finisher& finish) {
  detail::replay_refusal refusal;
  std::optional<candidate> out = detail::replay_or_refuse(t, f, seed, refusal, finish);
  if (!out && why) *why = std::move(refusal.why);
  return out;
}

TILEWRIGHT_INLINE std::vector<std::size_t> choices(const trace& t) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < t.size(); ++i)
    if (t[i].what->kind->choice != decision_shape::none && !t.is_fixed(i)) out.push_back(i);
  return out;
}

TILEWRIGHT_INLINE std::optional<trace> mutate(const trace& t, support::random& random) {
  const std::vector<std::size_t> at = choices(t);
  if (at.empty()) return std::nullopt;
  const std::size_t i = at[random.below(at.size())];
  const trace::step& step = t[i];
  decision changed;  // empty: drawn anew in the replay
  if (step.what->kind->choice == decision_shape::many && random.below(3) != 0)
    changed = detail::move_factor(step.choice, random);
  return t.with_decision(i, std::move(changed));
}

}  // namespace tilewright::search
