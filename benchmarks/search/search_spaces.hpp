// How the default space and the paper's list of rules compare with the same number of trials.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace bench {

struct space_comparison {
  int trials = 128;
  std::uint64_t seeds = 5;
  std::string only;  // this workload; empty: the seven of results/search.md whose spaces are large
};

/// Whole sessions, the two spaces in turns; prints the best time of each session, and for a workload
/// the median over seeds of (best of default_cpu) / (best of metaschedule_cpu).
int compare_spaces(const space_comparison& o);

}  // namespace bench
