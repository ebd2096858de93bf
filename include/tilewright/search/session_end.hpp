// Why a session ends, and what going on is expected to bring.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <tilewright/config.hpp>

namespace tilewright::search {

/// What ended a session.
enum class session_end {
  none,      // it goes on
  seconds,   // its time is over
  trials,    // as many candidates are measured as were asked for
  target,    // the best time is good enough
  patience,  // so many trials in a row were no better
  gain,      // more trials are expected to bring less than what was asked for
  space,     // every program of the space that can be found is measured
  stopped,   // a callback ended it
  cancelled
};

/// "the space is used up after 240 trials", "no gain is expected after 41 trials", ...; empty for
/// none.
std::string end_text(session_end end, int trials);

/// The share of the time of a call below which gains end a session where neither its seconds nor
/// its trials are named.
inline constexpr double default_gain = 0.01;

/// Fewest trials after which no gain may be expected.
inline constexpr std::size_t trials_before_gain = 32;

/// The share by which the best time is expected to fall if a session doubles its trials: what the last
/// half of them brought, or the last `least` where that is more. Infinity while there are fewer.
/// `search_quality ends` shows what sessions lose that end by it.
/// @param best times after 0, 1, 2, ... trials, falling // s
double expected_gain(std::span<const double> best, std::size_t least = trials_before_gain);

}  // namespace tilewright::search
