// The time of a session, and what of it is kept for timing the finalists again.
#pragma once

#include <algorithm>
#include <chrono>

namespace tilewright::search::detail {

/// Counts from its making. All times are in seconds.
class time_budget {
 public:
  explicit time_budget(double seconds)
      : seconds_(std::max(seconds, 0.0)), kept_(least_kept * seconds_) {}

  double elapsed() const { return std::chrono::duration<double>(clock::now() - start_).count(); }
  double left() const { return std::max(0.0, seconds_ - elapsed()); }
  /// For what was begun in time.
  double left_at_most() const { return left() + late * seconds_; }
  /// True for calls of which the budget has room for few: they are not repeated.
  bool is_slow(double seconds) const { return seconds > 0.02 * seconds_; }
  double left_for_search() const { return std::max(0.0, seconds_ - kept_ - elapsed()); }

  /// Keeps what the end needs, within bounds: a search that has no time finds no finalists.
  void keep(double needed) {
    kept_ = std::clamp(needed, least_kept * seconds_, most_kept * seconds_);
  }

  /// The search is over: what follows gets a share of the time that it took.
  void end_search() { seconds_ = std::min(seconds_, elapsed() * (1 + most_kept)); }

 private:
  using clock = std::chrono::steady_clock;
  static constexpr double least_kept = 0.1, most_kept = 0.3, late = 0.05;

  clock::time_point start_ = clock::now();
  double seconds_, kept_;
};

}  // namespace tilewright::search::detail
