// How a candidate is timed, by what its session has left.
#pragma once

#include <algorithm>

#include <tilewright/impl/search/session/time_budget.hpp>
#include <tilewright/search/measurement/measurement.hpp>
#include <tilewright/search/measurement/measuring.hpp>

namespace tilewright::search::detail {

/// What is still running when the session is over need not be waited for: a timeout is no candidate's fault then.
struct candidate_timing {
  measure_options options;
  bool ends_with_session = false;
};

/// @param baseline,best seconds of the default schedule and of the fastest candidate
inline candidate_timing timing_of_candidate(const measuring_options& measuring,
                                            const time_budget& budget, double baseline,
                                            double best) {
  candidate_timing out;
  out.options.best = best;
  if (budget.is_slow(best)) out.options.most_repeats = 0;
  const double wanted =
      measuring.run_deadline > 0 ? measuring.run_deadline : std::max(1.0, 20 * baseline);
  const double left = budget.left_at_most();
  out.ends_with_session = left < wanted;
  out.options.deadline = std::min(left, wanted);
  return out;
}

}  // namespace tilewright::search::detail
