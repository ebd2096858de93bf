// Candidates: scheduled programs with the traces that made them, and how new ones are proposed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/support/hash.hpp>
#include <tilewright/support/random.hpp>

namespace tilewright::search {

/// A legal schedule of the workload.
struct candidate {
  schedule scheduled;
  support::hash128
      identity;  // workload key of the scheduled program: equal programs are measured once
  /// Natural logarithm of the probability that drawing gives these decisions, as trace::log_probability;
  /// a decision that is never drawn, as one that was made for other extents, counts as -100.
  double log_prior = 0;
};

/// What is done to a schedule after its random choices; throws schedule_error to reject it.
using finisher = std::function<void(schedule&)>;

/// Replays `t` on a fresh schedule of `f`; missing decisions are drawn from `seed`. Nothing when a primitive
/// refuses, or `f` keeps the order of its terms and what comes out may not (schedule/term_order.hpp), with the
/// reason in `why`. With `finish`, that takes the place of the post-processing in `t`.
std::optional<candidate> replay(const trace& t, const ir::function& f, std::uint64_t seed,
                                std::string* why = nullptr, const finisher& finish = {});

/// Positions of the instructions that hold a decision which may change.
std::vector<std::size_t> choices(const trace& t);

/// One decision changed: a factor of a tile moved to another level, or anything drawn anew. Always a valid
/// decision by itself; whether later primitives accept it shows in the replay. Nothing when `t` has no choice.
std::optional<trace> mutate(const trace& t, support::random& random);

}  // namespace tilewright::search
