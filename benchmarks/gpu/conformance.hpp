// The prelude's functions on a device against their models on the host: bit for bit, but for sums of floating-point
// numbers that memory adds in another order each time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/backend/cuda/program.hpp>
#include <tilewright/support/dtype.hpp>

namespace gpu_conformance {

/// Kernels of two parameters, one after the other: what they read and what they fill.
struct entry {
  std::string name;
  tilewright::backend::cuda::program program;
  std::vector<std::byte> input;
  std::size_t output_bytes = 0;
  tilewright::dtype result = tilewright::dtype::i8;
  double rounding = 0;  // what an element may be off by, absolute; 0: bit for bit
};

/// Conversions, integer arithmetic, exchanges between lanes, products of matrices and additions that memory makes, on
/// random and on special values.
std::vector<entry> all();

/// Products of warp groups, which sm_90a alone has: types, columns, and operands lying every way.
std::vector<entry> of_groups();

/// What the host makes of an entry, its threads in an order drawn from the seed.
/// @throws build_error when there is no C++ compiler
std::vector<std::byte> on_host(const entry& e, std::uint64_t seed = 1);

/// Elements of a result that differ from what is expected by more than rounding; all where their number differs.
std::size_t wrong_elements(const entry& e, const std::vector<std::byte>& got,
                           const std::vector<std::byte>& expected);

}  // namespace gpu_conformance
