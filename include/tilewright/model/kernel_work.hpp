// What a kernel of a network has to do, and what it could not go below.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tilewright/model/executable.hpp>

namespace tilewright::network {

struct kernel_work {
  double flops = 0;               // operations on floats, a multiply-add as two, a call as one
  std::int64_t weight_bytes = 0;  // of constants
  std::int64_t other_bytes = 0;   // of what it reads and writes besides
};

/// Work of launch k of a network.
kernel_work work_of(const executable& program, std::size_t k);

/// Seconds that launch k cannot go below. Constants come from memory where all of the network's do
/// not fit into the last cache; everything else is in the caches. 0 where the rates of this machine
/// cannot be measured.
double bound_of(const executable& program, std::size_t k);

}  // namespace tilewright::network
