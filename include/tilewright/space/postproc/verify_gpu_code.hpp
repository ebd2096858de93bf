// Post-processor: a candidate fits the device. Computed from the scheduled program; nothing is
// lowered.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <tilewright/space/space.hpp>

namespace tilewright::space {

/// What one kernel, a nest below the root with loops bound to threads, asks of a device.
struct kernel_usage {
  std::map<std::string, std::int64_t> extents;  // of the axes of the grid, by tag
  std::string uneven;                           // an axis with two extents; empty: none
  std::int64_t threads = 1;                     // per block; 32 for one whose work is a warp's
  std::int64_t vthreads = 1;                    // the longest loop over virtual threads
  std::int64_t shared_bytes = 0;                // per block
  std::int64_t local_bytes = 0;                 // per thread
  std::int64_t vector_bytes = 0;                // the widest access
  std::int64_t fewest_threads = 0;              // what blocks are annotated with; 0: nothing
  std::int64_t most_threads = 0;
  /// One group of warps more asks for copies, and counts among the threads.
  bool has_producer = false;
};

/// The kernels of a program, in order. A buffer counts with the box that is touched of it while the
/// loops run that its readers and writers do not share, or that threads share it across; with all
/// of it where that is not known.
std::vector<kernel_usage> gpu_usage(const ir::function& f);

/// Rejects a candidate unless in each kernel: 1. loops on one axis of the grid have one extent;
/// 2. blocks have no more threads than the device takes; 3. and as many as the annotations
/// `meta_schedule.thread_extent_low_inclusive` and `.._high_inclusive` ask for; 4. shared memory, 5.
/// local memory, 6. virtual threads, 7. vectors are within the limits; 8. the local memory of all
/// threads of a block fits into the registers of a multiprocessor, where the device is known.
///
/// A limit of 0 is that of the GPU in the context; where there is none, 1024 threads, 48 KB of shared
/// and 512 KB of local memory.
struct verify_gpu_code {
  std::int64_t threads_per_block = 0;
  std::int64_t shared_bytes = 0;  // per block
  std::int64_t local_bytes = 0;   // per thread
  std::int64_t vthreads = 8;
  std::int64_t vector_bytes = 16;
  /// @throws schedule_error with the number of what is not met
  void operator()(schedule& s, const context& where) const;
};

}  // namespace tilewright::space
