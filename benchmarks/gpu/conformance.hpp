// The prelude's functions on a device against their models on the host, bit for bit.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <tilewright/backend/cuda/program.hpp>

namespace gpu_conformance {

/// One kernel of two parameters: what it reads and what it fills.
struct entry {
  std::string name;
  tilewright::backend::cuda::program program;
  std::vector<std::byte> input;
  std::size_t output_bytes = 0;
};

/// Conversions, integer arithmetic and exchanges between lanes, on random and on special values.
std::vector<entry> all();

/// What the host makes of an entry.
/// @throws build_error when there is no C++ compiler
std::vector<std::byte> on_host(const entry& e);

}  // namespace gpu_conformance
