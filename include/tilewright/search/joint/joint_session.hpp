// Several extents of a kernel tuned as one task: one schedule, or a few, that are good at all of them.
//
// A session on one of the workloads proposes traces. Each is adapted to all of them, as the trace of a near
// workload is, and its time is the weighted geometric mean of the times of a call at each.
#pragma once

#include <string>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/search/database/database.hpp>
#include <tilewright/search/session.hpp>

namespace tilewright::search {

/// A workload of several that are tuned as one.
struct joint_task {
  const workload* what = nullptr;
  double weight = 1;  // of its time in the mean
};

struct joint_options {
  session_options session;  // events tell geometric means of times
  int traces = 1;  // that may be found, of which each workload runs the one that is fastest there
};

/// What was found for one workload.
struct joint_choice {
  std::string trace;  // as it runs there
  bool improved =
      false;  // it is faster than the default schedule by more than the noise; else it is that
  double best = 0;      // s, median of the final timing
  double baseline = 0;  // s, the same of the default schedule
  std::string checked;  // as record::checked
};

struct joint_result {
  std::vector<joint_choice>
      at;  // [tasks]; empty where the session was cancelled before it had timed anything
  double best = 0, baseline = 0;  // s, weighted geometric means of those
  int trials = 0;
  double seconds = 0;
  session_end end = session_end::none;
  std::vector<std::string> remarks;
};

/// Tunes all of them in one session. What is chosen for each is verified and timed there, in turn with its
/// default schedule and with what was stored for it before, which stays where it is faster, and stored in `db`,
/// chosen, with its code. Other extents are adapted from it as from any stored schedule (database::nearest).
///
/// Requires: 1. there are tasks, their weights above 0 and finite; 2. all are of one kernel (family_of), on one
/// CPU; 3. candidates are built and timed in this process: no worker, and no builder, runner or caller of
/// the user's own.
/// @throws argument_error naming the requirement; as `tune`
joint_result tune_jointly(const std::vector<joint_task>& tasks, const joint_options& options,
                          database& db);

}  // namespace tilewright::search
