// How trees learn measured programs: what they are shown, and when it is time to learn again.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include <tilewright/cost/gbt.hpp>
#include <tilewright/support/hash.hpp>

namespace tilewright::cost::detail {

inline bool is_time(double seconds) { return std::isfinite(seconds) && seconds > 0; }

/// Programs with their rows and times as samples with labels: the best time of the workload over the
/// own one, 0 where it failed.
/// @tparam Datum has rows {x, count}, workload and seconds
template <class Datum>
dataset training_set(const std::vector<Datum>& known, std::size_t columns) {
  std::map<support::hash128, double> best;
  std::map<support::hash128, std::uint32_t> number;
  for (const Datum& d : known) {
    double& b = best.try_emplace(d.workload, std::numeric_limits<double>::infinity()).first->second;
    if (is_time(d.seconds)) b = std::min(b, d.seconds);
    number.try_emplace(d.workload, static_cast<std::uint32_t>(number.size()));
  }
  dataset out;
  out.columns = columns;
  for (const Datum& d : known) {
    const double label = is_time(d.seconds) ? best[d.workload] / d.seconds : 0;
    // fast programs matter most
    const double weight = 0.1 + label;
    out.add(d.rows.x.get(), d.rows.count, static_cast<float>(label), static_cast<float>(weight),
            number[d.workload]);
  }
  return out;
}

/// Below as many measured programs a prior is corrected with care; found on operators left out.
inline constexpr std::size_t few_programs = 64;

/// How a prior is corrected by so many programs.
inline gbt_options correction_by(std::size_t programs, gbt_options how) {
  if (programs >= few_programs) return how;
  // Deep trees would learn a few programs by heart, and forget what the prior knows of the others.
  how.depth = std::min(how.depth, 3);
  how.rate = std::min(how.rate, 0.1);
  how.rounds = std::min(how.rounds, 2 * static_cast<int>(programs));
  return how;
}

/// Whether so many programs that came since the last training are enough of a share of those it saw.
inline bool training_is_due(std::size_t fresh, std::size_t trained, double share) {
  return static_cast<double>(fresh) >= std::max(1.0, share * static_cast<double>(trained));
}

}  // namespace tilewright::cost::detail
