#pragma once

#include <algorithm>
#include <numeric>

#include <tilewright/impl/search/program_source.hpp>
#include <tilewright/impl/search/replay_memory.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/schedule/term_order.hpp>
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

/// What `run` gives, or nothing and why it was refused.
template <class Run>
std::optional<candidate> unless_refused(replay_refusal& refusal, const Run& run) {
  try {
    return run();
  } catch (const internal_error&) {
    throw;
  } catch (const replay_error& e) {
    refusal = {e.what(), e.instruction()};
  } catch (const error& e) {
    refusal = {e.what(), std::nullopt};
  }
  return std::nullopt;
}

/// Of the decision that was taken last.
inline double log_prior_of_last_step(const schedule& s) {
  constexpr double never = -100;
  return std::max(log_probability_of_last_step(s), never);
}

/// @throws schedule_error where `f` keeps the order of its terms and the schedule may not
inline candidate candidate_of(schedule&& s, const ir::function& f, double log_prior) {
  check_term_order(s, f);
  const support::hash128 identity = ir::workload_key(s.function());
  return candidate{std::move(s), identity, log_prior};
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
  return unless_refused(refusal, [&] {
    schedule s(f, seed);
    double prior = 0;
    const auto add_prior = [&](const trace::step& done) {
      if (done.what->kind->choice != decision_shape::none) prior += log_prior_of_last_step(s);
    };
    if (finish) {
      t.without_postproc().apply_to(s, {}, add_prior);
      finish(s);
    } else {
      t.apply_to(s, {}, add_prior);
    }
    return candidate_of(std::move(s), f, prior);
  });
}

/// Runs an instruction of a trace on a schedule that has come to it.
/// @returns false when its results have other numbers than in the trace
inline bool apply_as_recorded(const trace& t, std::size_t at, schedule& s) {
  try {
    return s.apply(t[at].what, t[at].choice) == t[at].what->outputs;
  } catch (const schedule_error& refusal) {
    throw replay_error(refusal, at);
  }
}

TILEWRIGHT_INLINE std::optional<candidate> replay_memory::replay(const support::hash128& sketch,
                                                                 const trace& t,
                                                                 const ir::function& f,
                                                                 std::uint64_t seed,
                                                                 replay_refusal& refusal) {
  const std::vector<draw> list = draws_of(sketch, t);
  std::size_t known = list.size();  // behind the draw at which this replay begins
  std::shared_ptr<const place> begin;
  while (known > 0 && !begin) begin = place_before(list[--known]);
  return unless_refused(refusal, [&]() -> std::optional<candidate> {
    schedule s = begin ? begin->before : schedule(f, seed);
    // a decision that is given leaves the random stream as it is
    if (begin) s.seed(seed);
    double prior = begin ? begin->log_prior : 0;
    std::size_t next = begin ? known + 1 : 0;  // draw before which a place is kept
    for (std::size_t i = begin ? list[known].instruction : 0; i < t.size(); ++i) {
      if (next < list.size() && list[next].instruction == i) {
        const auto here = std::make_shared<const place>(place{s, prior});
        const std::lock_guard lock(guard_);
        keep(list[next++], here);
      }
      if (!apply_as_recorded(t, i, s)) return replay_or_refuse(t, f, seed, refusal, {});
      if (draws(t[i])) prior += log_prior_of_last_step(s);
    }
    return candidate_of(std::move(s), f, prior);
  });
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
