// Instruction set architectures that code is made for.
#pragma once

#include <cstdint>
#include <string_view>

#include <tilewright/config.hpp>

namespace tilewright::target {

struct cpu;

enum class architecture : std::uint8_t { x86_64, aarch64, other };

/// "x86-64", "aarch64", "other": the first word of cpu::isa_key().
std::string_view name(architecture a) noexcept;

/// Of a description. Its feature list decides: that of every AArch64 processor has "+neon", and no
/// other one has.
architecture architecture_of(const cpu& c);

/// Of the machine that this process runs on, or that an emulator shows it.
architecture host_architecture();

/// Whether the vectors of the description are those of SVE at one length, `vector_bits`. Code for
/// them computes nonsense at any other length.
bool has_fixed_sve(const cpu& c);

}  // namespace tilewright::target
