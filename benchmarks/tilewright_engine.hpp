// Tilewright as one of the engines that bench_workloads compares.
#pragma once

#include "peers/peer.hpp"

namespace bench {

peer tilewright_engine();
/// The same with the second operand, a weight, bound beforehand: it is packed outside of calls, as
/// oneDNN's best layout is.
peer bound_tilewright_engine();

/// Seconds of tuning per workload and thread count: BENCH_TUNE_SECONDS, or 10.
double tuning_seconds();

}  // namespace bench
