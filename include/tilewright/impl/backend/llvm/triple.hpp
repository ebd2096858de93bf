// What LLVM calls the machines that code is generated for.
#pragma once

#include <tilewright/target/architecture.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::backend::llvm {

/// The target triple of a CPU.
inline const char* triple_of(const target::cpu& c) {
  return target::architecture_of(c) == target::architecture::aarch64 ? "aarch64-unknown-linux-gnu"
                                                                     : "x86_64-unknown-linux-gnu";
}

/// The least CPU of its architecture: features and scheduling model come on top of it.
inline const char* base_cpu(const target::cpu& c) {
  return target::architecture_of(c) == target::architecture::aarch64 ? "generic" : "x86-64";
}

/// Whether instructions convert between 16-bit and 32-bit floats.
inline bool converts_halves(const target::cpu& c) {
  return c.has("f16c") || target::architecture_of(c) == target::architecture::aarch64;
}

}  // namespace tilewright::backend::llvm
