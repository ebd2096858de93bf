// Measured ceilings of the machine: fused multiply-adds and memory bandwidth.
#pragma once

namespace bench {

/// Best of several runs of independent f32 FMAs in the widest vectors that the machine has, in
/// GFLOP/s of one core.
double fma_peak_gflops();
/// Best of several sums over a buffer much larger than the caches, in GB/s of one core.
double read_bandwidth_gbs();

}  // namespace bench
