// Several extents of one kernel tuned as one task.
//
//   tune_jointly({op.at_extents({{"M", 1}, {"N", 768}, {"K", 768}}),
//                 op.at_extents({{"M", 32}, {"N", 768}, {"K", 768}}).weighted(3)}, {.seconds = 20});
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/dispatch/tuning_request.hpp>
#include <tilewright/search/joint/joint_session.hpp>

namespace tilewright::dispatch {

/// What is said of the session; the rest is as the kernel's own options say.
struct jointly_options {
  double seconds = 20;  // for all extents together
  int trials = std::numeric_limits<int>::max();
  int traces = 1;  // that may be found, of which each extent runs the one that is fastest there
  std::uint64_t seed = 42;
  /// Progress, in weighted geometric means of the times of a call; may be null.
  std::function<void(const search::progress&)> events = {};
  const std::atomic<bool>* cancelled = nullptr;
};

/// Searches one schedule that is good at all of the requests, whose weights are those of the mean, and stores it
/// for each: calls there run it from then on, also where they have run before, and calls at other extents that
/// may not be tuned run what it becomes there. See search/joint/joint_session.hpp.
/// @returns one choice a request, in their order
/// @throws argument_error for requests of several kernels, on a GPU, or with other databases, and as
/// tune_together; for extents that another process tunes now
search::joint_result tune_jointly(const std::vector<tuning_request>& requests,
                                  const jointly_options& options = {});

}  // namespace tilewright::dispatch
