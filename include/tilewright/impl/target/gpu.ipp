#pragma once

#include <array>

#include <tilewright/support/error.hpp>
#include <tilewright/target/gpu.hpp>

namespace tilewright::target {
namespace detail::gpus {

/// One line of the table of GPUs.
struct known_gpu {
  std::string_view name;
  int compute_capability;
  bool exact;
  int threads_per_multiprocessor, blocks_per_multiprocessor;
  int shared_per_block_kib, shared_per_multiprocessor_kib;
  int cluster_size, multiprocessors, l2_mib;
};

inline constexpr std::array<known_gpu, 5> table{{
    {"sm_80", 80, false, 2048, 32, 163, 164, 1, 108, 40},
    {"sm_86", 86, false, 1536, 16, 99, 100, 1, 84, 6},
    {"sm_89", 89, false, 1536, 24, 99, 100, 1, 128, 72},
    {"sm_90", 90, false, 2048, 32, 227, 228, 8, 132, 50},
    {"sm_90a", 90, true, 2048, 32, 227, 228, 8, 132, 50},
}};

inline gpu described(const known_gpu& k) {
  gpu out;
  out.name = out.architecture = k.name;
  out.compute_capability = k.compute_capability;
  out.exact = k.exact;
  out.threads_per_multiprocessor = k.threads_per_multiprocessor;
  out.blocks_per_multiprocessor = k.blocks_per_multiprocessor;
  out.shared_per_block = std::int64_t{k.shared_per_block_kib} << 10;
  out.shared_per_multiprocessor = std::int64_t{k.shared_per_multiprocessor_kib} << 10;
  out.cluster_size = k.cluster_size;
  out.multiprocessors = k.multiprocessors;
  out.l2_bytes = std::int64_t{k.l2_mib} << 20;
  return out;
}

}  // namespace detail::gpus

TILEWRIGHT_INLINE bool gpu::runs_on(int device_capability) const noexcept {
  if (exact) return device_capability == compute_capability;
  return device_capability / 10 == compute_capability / 10 &&
         device_capability >= compute_capability;
}

TILEWRIGHT_INLINE gpu named_gpu(std::string_view name) {
  for (const detail::gpus::known_gpu& k : detail::gpus::table)
    if (k.name == name) return detail::gpus::described(k);
  std::string message = "GPU \"" + std::string(name) + "\" is not known; write one of";
  const char* separator = " ";
  for (std::string_view known : known_gpu_names()) {
    message += separator + std::string(known);
    separator = ", ";
  }
  throw argument_error(message);
}

TILEWRIGHT_INLINE std::vector<std::string_view> known_gpu_names() {
  std::vector<std::string_view> out;
  for (const detail::gpus::known_gpu& k : detail::gpus::table) out.push_back(k.name);
  return out;
}

}  // namespace tilewright::target
