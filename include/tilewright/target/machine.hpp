// What programs are made for: a CPU or a GPU.
#pragma once

#include <string>

#include <tilewright/config.hpp>

namespace tilewright::target {

struct cpu;
struct gpu;

/// A CPU or a GPU that somebody else describes and owns: a pair of pointers, of which one is null.
/// Builders, runners, spaces and workers take one.
struct machine {
  const target::cpu* cpu = nullptr;  // null for a GPU
  const target::gpu* gpu = nullptr;  // null for a CPU

  machine() = default;
  machine(const target::cpu* c) noexcept : cpu(c) {}   // NOLINT
  machine(const target::cpu& c) noexcept : cpu(&c) {}  // NOLINT
  machine(const target::gpu* g) noexcept : gpu(g) {}   // NOLINT
  machine(const target::gpu& g) noexcept : gpu(&g) {}  // NOLINT

  /// Text that is equal exactly when generated code may be exchanged: cpu::isa_key(), or "nvidia:"
  /// and the architecture of the GPU.
  std::string isa_key() const;
  /// What the CPU calls itself, or the name of the GPU. Provenance only.
  const std::string& model() const;
  /// True for code that a GPU runs, by its isa_key().
  static bool is_gpu(const std::string& isa_key);
};

}  // namespace tilewright::target
