#pragma once

#include <vector>

#include <tilewright/search/progress.hpp>
#include <tilewright/support/numbers/number_text.hpp>
#include <tilewright/support/stable_sort.hpp>

namespace tilewright::search {

TILEWRIGHT_INLINE std::string time_text(double seconds) {
  if (seconds < 1e-6) return support::fixed_text(seconds * 1e9, 0) + " ns";
  if (seconds < 1e-3) return support::general_text(seconds * 1e6, 3) + " us";
  if (seconds < 1) return support::general_text(seconds * 1e3, 3) + " ms";
  return support::general_text(seconds, 3) + " s";
}

TILEWRIGHT_INLINE std::string progress_line(const progress& p) {
  int failed = 0;
  for (const auto& [kind, count] : p.failures)
    if (kind != failure::schedule) failed += count;
  const std::string trials = std::to_string(p.trials);
  return std::string(trials.size() < 5 ? 5 - trials.size() : 0, ' ') + trials + " trials  best " +
         time_text(p.best) + " (" + support::fixed_text(p.best > 0 ? p.baseline / p.best : 1.0, 2) +
         "x of default)  " + support::fixed_text(p.rate, 0) + "/s  " + std::to_string(failed) +
         " failed  " + support::fixed_text(p.left, 0) + " s left" +
         (p.end == session_end::none ? "" : ", " + end_text(p.end, p.trials));
}

TILEWRIGHT_INLINE std::string profile_text(std::span<const support::stage_time> stages) {
  std::vector<support::stage_time> order(stages.begin(), stages.end());
  support::stable_sort(order, [](const support::stage_time& a, const support::stage_time& b) {
    return a.seconds > b.seconds;
  });
  double all = 0;  // s
  for (const support::stage_time& t : order) all += t.seconds;
  std::string out;
  for (const support::stage_time& t : order)
    out += (out.empty() ? "" : ", ") + std::string(t.name) + " " +
           support::fixed_text(all > 0 ? 100 * t.seconds / all : 0, 1) + " %";
  return out;
}

}  // namespace tilewright::search
