// What the machine could do at best: the yardstick of a report (Williams et al., CACM 2009).
#pragma once

#include <tilewright/config.hpp>

namespace tilewright::search {

/// Rates that one core reaches alone. Several cores together reach at most that many times as much:
/// they share memory, and mostly a budget of power.
struct roofline {
  double flops_per_second = 0;  // f32; a multiply-add counts as two
  double bytes_per_second = 0;  // read from memory, not from a cache; storing is slower than that
  /// @name Read by vectors from a cache; 0: not measured, as where there is none
  /// @{
  double l1_bytes_per_second = 0;
  double l2_bytes_per_second = 0;
  double l3_bytes_per_second = 0;
  /// @}
  /// @name Until what follows may use the result; 0: not measured
  /// @{
  double multiply_add_seconds = 0;
  double addition_seconds = 0;
  /// @}
};

/// Seconds that no program with this much work can go below: the slower one of arithmetic and
/// memory.
/// @param flops   operations on floats
/// @param bytes   that have to come from or go to memory; 0 when caches hold them
/// @param threads cores that share the work; at least 1
double bound_seconds(const roofline& r, double flops, double bytes, int threads);

/// The rates of a core of this machine, measured once per process at the first use, in about 80 ms
/// and with a buffer of 16 MiB; 256 MiB at most where no instruction flushes a cache. The code that
/// is measured is compiled for target::host(), so that it does not depend on how the library was
/// built. Null when no code can be made or memory is short.
const roofline* measured_roofline();

}  // namespace tilewright::search
