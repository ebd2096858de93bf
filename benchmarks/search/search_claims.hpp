// What MetaTune (arXiv 2102.04199) claims, tried on recorded programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace bench {

struct claim_options {
  std::size_t most = 60;          // programs of a training workload that models learn
  std::size_t trials = 128;       // of a replayed search
  std::size_t other_trials = 32;  // on the other target
  std::uint64_t seeds = 10;       // of searches, and orders in which models meet programs
  std::uint64_t trained = 2;  // networks that are trained, from seeds of their own, and take turns
  std::string other;          // times of the held-out workloads on another target; empty: none
  std::string other_target = "haswell";
  std::string chart;  // CSV for claims_chart.py; empty: none
  int threads = 2;    // that search tables at the same time
  std::string kept;   // beginning of the names of files with what was done; empty: none
};

/// Trains the models of the paper on the training workloads of `file`, lets each pair of model and
/// strategy search the tables of the held-out ones, and prints a line for each of the claims C1 to
/// C10: what the paper says, what came out here with an interval over workloads and the test of
/// signed ranks, and whether the claim holds. It may be ended at any moment: trained models and finished
/// searches lie in files, and are taken from there when it is called again.
/// @returns an exit code
int run_claims(const std::string& file, const claim_options& o);

}  // namespace bench
