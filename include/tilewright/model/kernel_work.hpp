// What a kernel of a network has to do, what it could not go below, and what it took.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/model/executable.hpp>
#include <tilewright/search/database/database.hpp>

namespace tilewright::network {

struct kernel_work {
  double flops = 0;               // operations on floats, a multiply-add as two, a call as one
  std::int64_t weight_bytes = 0;  // of constants
  std::int64_t other_bytes = 0;   // of what it reads and writes besides
};

/// Work of launch k of a network.
kernel_work work_of(const executable& program, std::size_t k);

/// Seconds that launch k cannot go below. Constants come from memory where all of the network's do
/// not fit into the last cache; everything else is in the caches. 0 on GPUs, and where the rates of this
/// machine cannot be measured.
double bound_of(const executable& program, std::size_t k);

/// Where the schedule of a kernel comes from, by what the database holds.
enum class schedule_origin {
  tuned,     // it was chosen for this kernel
  measured,  // the best of a session that ended before one was chosen
  nearest,   // it was chosen for the same kernel at the nearest extents, or found by fewer threads
  untuned    // the default of its space
};
const char* text_of(schedule_origin o);

/// What a kernel took in the network.
struct kernel_report {
  double seconds = 0;  // median of the runs
  double bound = 0;    // as bound_of
  schedule_origin origin = schedule_origin::untuned;
  std::string algorithm =
      {};  // its name, where the schedule is of another than the first of the kernel
};

/// Runs the network on zeros, and reports each launch. // [launches]
/// @param records the database that its kernels come from
std::vector<kernel_report> reports_of(const executable& program, const search::database& records,
                                      int runs = 5);
/// The same of times that were taken elsewhere. // [launches] s
std::vector<kernel_report> reports_of(const executable& program, const search::database& records,
                                      const std::vector<double>& seconds);

}  // namespace tilewright::network
