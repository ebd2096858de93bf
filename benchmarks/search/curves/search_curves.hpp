// How the best time falls with the number of trials, for strategies on recorded workloads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "../search_data.hpp"

namespace bench {

/// Measures random members of the space until `count` are recorded or nothing new comes.
void record_drawn(recorded_workload& w, std::size_t count, std::ofstream& to);

/// Best times after 1, 2, ... trials of one run; shorter than `trials` where the space has no more.
/// Random replay takes recorded draws in an order of its own; the other strategies search, and what
/// they propose beyond the record is measured and added to `to`.
std::vector<double> best_times(recorded_workload& w, const std::string& strategy,
                               std::size_t trials, std::uint64_t seed, std::ofstream& to);

/// Appends a curve to a file of lines "workload,strategy,seed,trials,seconds", every 8 trials.
void write_curve(std::ofstream& to, const std::string& workload, const std::string& strategy,
                 std::uint64_t seed, std::size_t trials, const std::vector<double>& curve);

struct curve_options {
  std::size_t trials = 1024;
  std::size_t drawn = 1536;  // recorded before anything is searched
  std::uint64_t seeds = 5;
  std::uint64_t first_seed = 1;
  int processes = 2;     // one core each
  double seconds = 840;  // after which no run begins
};

/// Runs random replay, evolution with random scores and evolution with trees on every seed and every
/// workload that has programs enough, in processes that share the workloads; adds to `file` what
/// they measured and to `out` the curves, and prints the summary of all curves there.
/// @returns an exit code
int run_curves(const std::string& file, const std::string& out, const curve_options& o);

/// Prints best known time / best time after 16, 64, ... trials, and after how many trials evolution
/// with trees reaches the final best of random replay with the same seed.
int summarize(const std::string& curves);

}  // namespace bench
