// What a tuning session of the tool is asked for, and the functions that it tunes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/backend/pool.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/search/task_scheduler.hpp>
#include <tilewright/target/cpu.hpp>
#include <tilewright/target/gpu.hpp>

#include "../mpi_ranks.hpp"

namespace tool {

struct tune_options {
  std::vector<std::string> files;
  std::string function, space;
  std::string target = "host", database;
  std::vector<std::string> dims, matrices;
  std::vector<std::vector<std::string>>
      several;                  // extents that are tuned as one task, one a copy of the file
  std::vector<double> weights;  // one a file, or one for each of several extents
  int traces = 1;               // for several extents
  tilewright::search::task_order order = tilewright::search::task_order::gradient;
  std::optional<double> seconds, gain;
  std::optional<int> trials;
  int threads = 0;
  std::uint64_t seed = 42;
  tilewright::search::caches where = tilewright::search::caches::warm;
  bool in_order = false;  // reductions
  std::string strategy, model, prior, proposer;
  bool worker = false;
  std::vector<std::string> workers;  // HOST:PORT, or commands
  int batch = tilewright::search::session_options{}.batch;
  std::string token_file;
  mpi_ranks ranks;  // that mpirun started; this is the first one
  bool json = false;
  bool profile = false;
  bool count = false;
  std::size_t count_limit = 100000;  // members
};

/// The functions as workloads of one database.
struct tune_tasks {
  std::unique_ptr<tilewright::backend::pool> own;
  const tilewright::backend::executor* exec = &tilewright::backend::pool::shared().view();
  tilewright::target::cpu cpu;                 // this one
  std::optional<tilewright::target::gpu> gpu;  // to make code for, where the target is one
  std::string no_gpu;                          // why nothing can be timed on one
  std::vector<tilewright::search::workload> all;
  std::shared_ptr<tilewright::search::database> db;

  explicit tune_tasks(const tune_options& o);

 private:
  tilewright::space::design_space chosen_space(const std::string& name) const;
  void choose_target(const std::string& name, bool elsewhere);
};

}  // namespace tool
