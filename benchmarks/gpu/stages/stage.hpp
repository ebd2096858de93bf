// One stage of the GPU program on the first device of this machine.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/backend/cuda/device.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/space/space.hpp>

#include "../case_memory.hpp"
#include "../ceilings.hpp"
#include "../conformance.hpp"
#include "../corpus.hpp"
#include "../device_clock.hpp"
#include "../result_file.hpp"
#include "../workloads.hpp"
#include "duels.hpp"

namespace gpu_stage {

namespace cu = tilewright::backend::cuda;
using gpu_case::byte_list, gpu_case::case_memory;

/// What the program ends with when its device is of no use any more: a new process goes on.
inline constexpr int device_lost = 5;

/// What a tuning stage is asked for.
struct tuning {
  double seconds = 12;            // of each session
  bool small = false;             // those that can be emulated, at their small extents
  std::filesystem::path program;  // which serves as the worker, as `PROGRAM worker`
};

/// Cases in order, each once: its line is written as soon as it is known, and a case whose line stands in the
/// file is not run again. A case that loses the device, or whose kernel does not end, ends the process.
class stage {
 public:
  /// @param name    of the stage; peers are asked for its cases
  /// @param python  what starts peers that are Python's; empty for none
  /// @throws build_error when there is no GPU
  stage(std::string name, std::filesystem::path pack, const std::filesystem::path& out,
        double seconds, std::vector<std::string> python = {});

  /// Of the workloads, and of what a tuning stage does beside them, only these; empty: all.
  void choose(std::vector<std::string> names) { chosen_ = std::move(names); }

  /// @name Stages
  /// @returns 1 when a line of the file says that something is wrong
  /// @{
  int run_first();
  int run_f32();
  int run_tensor();
  int run_attention();
  int run_glance();
  /// Of sm_90a: products of warp groups, functions for the copy engine, and products whose operands it brings. The
  /// prelude's functions, small products against the interpreter, large ones checked at points, and written schedules in
  /// turns with what runs unmeasured and cuBLAS.
  int run_hopper();
  /// Sessions of the library here, and how a worker is replaced. What each finds lies in the pack afterwards,
  /// as one more candidate of its workload; traces go to `traces.txt` beside the results,
  /// all that was timed to the database `records.db`.
  int run_tune(const tuning& how);
  /// @}

  /// Small cases of the corpus and of default schedules; what compute-sanitizer watches.
  int check(const std::vector<std::string>& names);
  /// Starts a kernel that misbehaves, or "nothing", and waits for it.
  void fault(const std::string& name);

 private:
  using clock = std::chrono::steady_clock;

  double seconds_left() const { return std::chrono::duration<double>(end_ - clock::now()).count(); }
  bool is_late() const { return clock::now() > end_; }
  bool wanted(const std::string& name) const;
  void once(const std::string& name, const std::function<std::string()>& f);
  int summary() const;
  void describe_machine();
  int time_all(const std::vector<gpu_workloads::workload>& all);
  std::string verdict(bool fine);

  std::string conform(const gpu_conformance::entry& e);
  std::string verify(const gpu_corpus::entry& e);
  std::string time_entry(const gpu_corpus::entry& e);
  std::string time_ceiling(const gpu_ceilings::entry& e) const;
  std::string time_cublas(const gpu_cublas::shape& s) const;
  std::string time_candidates(const gpu_workloads::workload& w);
  std::string glance_at(const gpu_workloads::workload& w);
  std::string launch_cost() const;
  std::string noise() const;
  std::string survives(const std::string& name);
  void measure_calls();
  std::string replace_worker(const std::string& harmful, const std::string& expected);
  std::string tune(const gpu_workloads::workload& w, const tilewright::space::design_space& space,
                   double seconds);

  std::filesystem::path pack_, traces_, records_;
  std::vector<std::string> chosen_;
  gpu_results::result_file results_;
  clock::time_point end_;
  cu::device device_;
  gpu_time::device_clock clock_{device_};
  gpu_duels::duels duels_;
  std::string arch_;
  int run_ = 0, wrong_ = 0, left_ = 0;
};

}  // namespace gpu_stage
