// Candidates that a callback drops.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <tilewright/search/candidate.hpp>
#include <tilewright/search/measurement/measurement.hpp>

namespace tilewright::search::detail {

inline measurement vetoed() {
  measurement out;
  out.failed = failure::veto;
  out.detail = "a callback dropped it";
  return out;
}

/// Nothing is learned from what a callback has dropped.
inline void drop_vetoed(std::vector<candidate>& batch, std::vector<measurement>& measured) {
  std::vector<candidate> kept;
  std::vector<measurement> times;
  for (std::size_t i = 0; i < measured.size(); ++i)
    if (measured[i].failed != failure::veto) {
      kept.push_back(std::move(batch[i]));
      times.push_back(std::move(measured[i]));
    }
  batch = std::move(kept);
  measured = std::move(times);
}

}  // namespace tilewright::search::detail
