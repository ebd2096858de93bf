// Who leads the last round of a session, and who does when the leader is dropped.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <tilewright/impl/search/measurement/final_timing.hpp>

namespace tilewright::search::detail {

/// The default schedule and the finalists, with the times of the last round.
class final_standing {
 public:
  /// @param all    the default schedule first
  /// @param times  [all], as `timed_in_turn` gives them
  final_standing(std::vector<contestant> all, std::vector<measurement> times)
      : all_(std::move(all)), times_(std::move(times)), result_(winner_of(all_, times_)) {}

  /// Whether the leader is faster than the default by more than the noise.
  bool improved() const { return result_.improved; }
  double noise() const { return result_.noise; }

  /// The one that is kept: a finalist where that is an improvement, else the default.
  const contestant& leader() const { return all_[at()]; }
  measurement time_of_leader() const { return time_of(at()); }
  measurement time_of_default() const { return time_of(0); }

  /// The next one leads. It requires an improvement: the default is not dropped.
  void drop_leader() {
    const auto place = static_cast<std::ptrdiff_t>(at());
    all_.erase(all_.begin() + place);
    times_.erase(times_.begin() + place);
    result_ = winner_of(all_, times_);
  }

 private:
  std::size_t at() const { return result_.improved ? result_.winner : 0; }

  /// Where the round had no time for it, what it took before.
  measurement time_of(std::size_t i) const {
    measurement out = times_[i];
    if (out.seconds.empty()) out.seconds = {all_[i].seconds};
    return out;
  }

  std::vector<contestant> all_;
  std::vector<measurement> times_;
  final_result result_;
};

}  // namespace tilewright::search::detail
