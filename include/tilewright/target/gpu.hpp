// Description of an NVIDIA GPU: what code may use, and the limits that a kernel must keep.
//
// Descriptions come by name; no driver is needed to describe a device. What a description says about
// limits is exact; rates and counts only guide schedules. Source: CUDA C++ programming guide, table
// "technical specifications per compute capability".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/config.hpp>

namespace tilewright::target {

/// A GPU that code is generated for. Example: `target::named_gpu("sm_90a").shared_per_block` is 232448.
struct gpu {
  std::string name;          // "sm_80": what `named_gpu` knows it by
  std::string model;         // what the device calls itself; empty for named ones. Provenance only
  std::string architecture;  // what NVRTC compiles for: "sm_90a"
  int compute_capability = 80;  // 10 * major + minor
  /// Code for the architecture runs on exactly this compute capability ("sm_90a"), not on later ones
  /// with the same major number.
  bool exact = false;

  int warp_size = 32;  // threads
  int threads_per_block = 1024;
  int threads_per_multiprocessor = 2048;
  int blocks_per_multiprocessor = 32;
  std::int64_t shared_per_block = 166912;           // bytes, what a kernel can ask for at most
  std::int64_t shared_per_multiprocessor = 167936;  // bytes
  int registers_per_thread = 255;
  int registers_per_multiprocessor = 65536;
  int cluster_size = 1;              // blocks, portable
  std::int64_t grid_x = 2147483647;  // blocks
  std::int64_t grid_yz = 65535;      // blocks, along y and along z
  std::int64_t block_xy = 1024;      // threads along x and along y
  std::int64_t block_z = 64;         // threads along z

  int multiprocessors = 108;
  std::int64_t l2_bytes = 40 << 20;

  /// True when a binary for this architecture runs on a device of that compute capability.
  bool runs_on(int device_capability) const noexcept;
};

/// A GPU by the name of its architecture: "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a".
/// @throws argument_error for a name that is not in the table; the text lists the table
gpu named_gpu(std::string_view name);

/// The names that `named_gpu` knows, in the order of the table.
std::vector<std::string_view> known_gpu_names();

}  // namespace tilewright::target
