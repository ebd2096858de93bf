// How fast strategies find the best of a table of recorded programs, at equal trials.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace bench {

struct strategy_comparison {
  std::size_t trials = 48;
  std::uint64_t seeds = 10;
  std::size_t least = 40;  // recorded programs of a workload that takes part
};

/// Every strategy by name, on every held-out workload of `file` with programs enough. A strategy proposes what
/// it likes; the member of the table that lies nearest, by the coordinates of traces, and was not
/// had takes its place, and its time is one of its recorded ones by chance. Prints for each strategy
/// (table's best time) / (its best so far), counted by the times that are believed, geometric mean
/// over workloads with intervals; the trials to 95 %; seconds of its own a trial; and the test of
/// signed ranks against evolution.
/// @returns an exit code
int run_strategies(const std::string& file, const strategy_comparison& o);

}  // namespace bench
