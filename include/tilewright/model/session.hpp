// Tuning the kernels of a network in one session with one budget.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <tilewright/model/executable.hpp>
#include <tilewright/search/database/database.hpp>
#include <tilewright/search/task_scheduler.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::network {

struct session_summary {
  std::size_t tasks = 0;  // different kernels
  int trials = 0;
  double seconds = 0;
};

/// Tunes every kernel of the programs, which are alternatives, equal ones once, weighted by how often
/// one of them runs it. What is found is stored in `db`; a program made afterwards runs it.
/// Where weights come from memory in the program, they do so in the timing of its kernels.
/// @param events called after each slice with the name of the kernel; may be null
/// @param cancelled ends the session when it becomes true; may be null
/// @param target whose code is tuned, and runs on this machine, too; null: this machine
session_summary tune_kernels(
    const std::vector<std::shared_ptr<const executable>>& programs, double seconds,
    std::uint64_t seed, search::database& db,
    const std::function<void(const std::string&, const search::tuning_result&)>& events = {},
    const std::atomic<bool>* cancelled = nullptr, const target::cpu* target = nullptr);

/// The same task for another CPU. // `target` has to outlive the result
search::workload task_for(const search::workload& w, const target::cpu& target);

/// Sum of the times of a program's kernels as `db` knows them; infinite when it does not know all.
double known_seconds(const executable& program, const search::database& db);

}  // namespace tilewright::network
