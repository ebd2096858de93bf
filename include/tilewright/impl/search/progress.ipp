#pragma once

#include <cstdio>

#include <tilewright/search/progress.hpp>

namespace tilewright::search {

TILEWRIGHT_INLINE std::string time_text(double seconds) {
  char text[32];
  if (seconds < 1e-6)
    std::snprintf(text, sizeof text, "%.0f ns", seconds * 1e9);
  else if (seconds < 1e-3)
    std::snprintf(text, sizeof text, "%.3g us", seconds * 1e6);
  else if (seconds < 1)
    std::snprintf(text, sizeof text, "%.3g ms", seconds * 1e3);
  else
    std::snprintf(text, sizeof text, "%.3g s", seconds);
  return text;
}

TILEWRIGHT_INLINE std::string progress_line(const progress& p) {
  char text[160];
  int failed = 0;
  for (const auto& [kind, count] : p.failures)
    if (kind != failure::schedule) failed += count;
  std::snprintf(text, sizeof text,
                "%5d trials  best %s (%.2fx of default)  %.0f/s  %d failed  %.0f s left", p.trials,
                time_text(p.best).c_str(), p.best > 0 ? p.baseline / p.best : 1.0, p.rate, failed,
                p.left);
  return text;
}

}  // namespace tilewright::search
