// How many measurements a search needs with one prior and with another, on this machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace bench {

struct live_comparison {
  std::string before;         // file of the prior that is compared with
  std::uint64_t seeds = 5;    // sessions of each kind and workload
  std::size_t workloads = 8;  // held-out ones
  int few = 16, many = 64;    // trials with the shipped prior, and with the other one
};

/// Tunes operators that nothing was trained on, `few` trials with the shipped prior and `many` with
/// the one before, in turn, and prints for each the best time after `many` over the one after `few`,
/// geometric mean of the seeds, and the mean of all with its interval: 1 where as little is enough.
/// @returns an exit code
int compare_live(const live_comparison& o);

}  // namespace bench
