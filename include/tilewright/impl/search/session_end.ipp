#pragma once

#include <algorithm>
#include <limits>

#include <tilewright/search/session_end.hpp>

namespace tilewright::search {

TILEWRIGHT_INLINE std::string end_text(session_end end, int trials) {
  const std::string after = " after " + std::to_string(trials) + " trials";
  switch (end) {
    case session_end::none: return {};
    case session_end::seconds: return "the time is over" + after;
    case session_end::trials: return "the budget of " + std::to_string(trials) + " trials is used";
    case session_end::target: return "the target is met" + after;
    case session_end::patience: return "patience is over" + after;
    case session_end::gain: return "no gain is expected" + after;
    case session_end::space: return "the space is used up" + after;
    case session_end::stopped: return "a callback stopped the session" + after;
    case session_end::cancelled: return "cancelled" + after;
  }
  return {};
}

TILEWRIGHT_INLINE double expected_gain(std::span<const double> best, std::size_t least) {
  const std::size_t trials = best.empty() ? 0 : best.size() - 1;
  const std::size_t last = std::max(least, (trials + 1) / 2);
  if (trials < last) return std::numeric_limits<double>::infinity();
  return 1 - best[trials] / best[trials - last];
}

}  // namespace tilewright::search
