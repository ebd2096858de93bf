// Several workloads in one session: which of them the next slice of the budget goes to.
//
// A slice is a short tuning session of one workload; it goes on from what the database knows. A run
// that was stopped, or killed, resumes when the same tasks are run on the same database: the choice
// of tasks goes on from the times that lie there, and nothing is drawn that was drawn before.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string_view>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/support/random.hpp>

namespace tilewright::search {

enum class task_order {
  round_robin,  // the next one that is not finished
  gradient      // where the weighted sum of times is expected to fall most
};

/// What the choice of the next task depends on.
struct task_history {
  double weight = 1;         // how often the workload runs
  std::vector<double> best;  // s, after each slice
  bool finished = false;     // nothing more to find
};

/// The task of the next slice, or `tasks.size()` when all are finished. By gradient every task
/// comes once first; then the one for which weight * (alpha * (fall of the best time over the last
/// `window` slices) / window + (1 - alpha) * best / slices) is largest, by lot where all are equal.
std::size_t next_task(const std::vector<task_history>& tasks, task_order order, std::size_t last,
                      support::random& random, double alpha = 0.2, std::size_t window = 3);

struct task {
  const workload* what = nullptr;
  double weight = 1;
};

struct task_options {
  task_order order = task_order::gradient;
  double seconds = 60;  // for all tasks
  int trials = std::numeric_limits<int>::max();
  int trials_per_task = std::numeric_limits<int>::max();
  int slice = 32;            // trials
  double slice_seconds = 5;  // at most
  int patience = 4;          // slices in a row without a better time that finish a task
  session_options session;   // of a slice; seconds, trials and cancelled are set
  /// Called after every slice with the number of the task.
  std::function<void(std::size_t, const tuning_result&)> events;
  const std::atomic<bool>* cancelled = nullptr;
};

struct task_result {
  tuning_result last;  // of the task's last slice; its best is the best of all slices
  int slices = 0;
  int trials = 0;
};

/// What one slice of a task does; `tune` on the task's workload, or a stand-in.
using slice_function = std::function<tuning_result(std::size_t task, const session_options&)>;

/// Best times after each slice of `slice` records, in the order in which they were measured.
std::vector<double> slices_of(const std::vector<record>& records, int slice);

/// Runs slices until the budget is used, all tasks are finished, or the run is cancelled. A task
/// whose slice throws a build_error or internal_error is finished; its result has a remark.
/// @param before best times after the slices of earlier runs, one list a task; empty: none
std::vector<task_result> run_tasks(const std::vector<double>& weights, const task_options& options,
                                   const slice_function& slice,
                                   const std::vector<std::vector<double>>& before = {});
/// The same on a database, which holds what earlier runs have measured.
std::vector<task_result> run_tasks(const std::vector<task>& tasks, const task_options& options,
                                   database& db);

}  // namespace tilewright::search
