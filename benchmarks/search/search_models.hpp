// How well models rank the programs of operators that they never saw, and how fast they learn them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace bench {

/// Every model learns up to `most` programs of each training workload of `file`, then 0, 8, 16 and
/// 32 programs of a held-out one, and ranks the others of it; that in as many orders as `seeds`.
/// Prints means over the held-out workloads with intervals, and how long learning took.
/// @param only part of the names of the models that take part; empty: all
/// @returns an exit code
int run_models(const std::string& file, std::size_t most, std::uint64_t seeds,
               const std::string& only = {});

}  // namespace bench
