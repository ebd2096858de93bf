// How well models rank the programs of a workload that they never saw, and how fast they learn it.
#pragma once

#include <cstddef>
#include <string>

namespace bench {

/// Every model by name and every workload of `file`: the model learns up to `most` programs of each
/// other workload, then 0, 8, 32 and 64 programs of this one, and ranks the others. Prints the means
/// over workloads, and how long learning took.
/// @returns an exit code
int run_models(const std::string& file, std::size_t most);

}  // namespace bench
