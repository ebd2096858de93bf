// Several kernels tuned in one session.
//
//   tune_together({op.at(a, b, c), other.at(x, y).weighted(12)}, {.seconds = 60});
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/dispatch/tuning_request.hpp>
#include <tilewright/search/task_scheduler.hpp>

namespace tilewright::dispatch {

/// What is said of all of the kernels; the rest of a session is as each kernel's own options say.
struct together_options {
  double seconds = 60;
  int trials = std::numeric_limits<int>::max();
  search::task_order order = search::task_order::gradient;  // which kernel is next
  std::uint64_t seed = 42;                                  // of that choice
  /// Called after every slice with the name of its kernel; may be null.
  std::function<void(const std::string& kernel, const search::tuning_result&)> events = {};
  const std::atomic<bool>* cancelled = nullptr;
};

/// Slices of the budget go to the kernel from which most is expected, as often as each runs
/// (`weighted`). What is found is stored in the database of each kernel; calls of the ops, those
/// that have run before too, run it from then on. A kernel that another process tunes now is left
/// to it.
/// @returns one result a request, in their order
/// @throws argument_error for a request without a kernel or without elements, or when a dimension
/// has no extent
std::vector<search::task_result> tune_together(const std::vector<tuning_request>& requests,
                                               const together_options& options = {});

}  // namespace tilewright::dispatch
