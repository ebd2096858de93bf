// What an AArch64 machine says about itself: the kernel's list of features, and the number of the
// processor's design.
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <sys/auxv.h>
#include <sys/prctl.h>

#include <tilewright/impl/target/system_file.hpp>

namespace tilewright::target::detail {

/// A bit of AT_HWCAP or AT_HWCAP2 (Linux: arch/arm64/include/uapi/asm/hwcap.h).
struct hwcap_bit {
  std::string_view name;  // LLVM's
  unsigned long vector;   // AT_HWCAP or AT_HWCAP2
  unsigned bit;
};

/// What generated code makes use of; other features never change it.
inline constexpr std::array<hwcap_bit, 7> hwcap_bits{{
    {"neon", AT_HWCAP, 1},
    {"fullfp16", AT_HWCAP, 10},
    {"dotprod", AT_HWCAP, 20},
    {"sve", AT_HWCAP, 22},
    {"sve2", AT_HWCAP2, 1},
    {"i8mm", AT_HWCAP2, 13},
    {"bf16", AT_HWCAP2, 14},
}};

/// A design by its number in the register MIDR_EL1.
struct known_design {
  std::uint32_t implementer, part;
  std::string_view model, tune;
};

inline constexpr std::array<known_design, 9> known_designs{{
    {0x41, 0xd03, "Cortex-A53", "cortex-a53"},
    {0x41, 0xd08, "Cortex-A72", "cortex-a72"},
    {0x41, 0xd0b, "Cortex-A76", "cortex-a76"},
    {0x41, 0xd0c, "Neoverse N1", "neoverse-n1"},
    {0x41, 0xd40, "Neoverse V1", "neoverse-v1"},
    {0x41, 0xd49, "Neoverse N2", "neoverse-n2"},
    {0x41, 0xd4f, "Neoverse V2", "neoverse-v2"},
    {0x46, 0x001, "A64FX", "a64fx"},
    {0x61, 0x022, "Apple M1", "apple-a14"},
}};

/// The design that a core names, "0x" and hexadecimal digits; nothing is known where the kernel does not
/// tell.
inline known_design design_of(std::string_view midr) {
  if (midr.starts_with("0x")) midr.remove_prefix(2);
  std::uint64_t wide = 0;
  std::from_chars(midr.data(), midr.data() + midr.size(), wide, 16);
  const auto number = static_cast<std::uint32_t>(wide);
  const std::uint32_t implementer = number >> 24, part = (number >> 4) & 0xfff;
  for (const known_design& k : known_designs)
    if (k.implementer == implementer && k.part == part) return k;
  return {implementer, part, "AArch64", "generic"};
}

inline known_design read_design() {
  return design_of(first_line("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1"));
}

inline std::vector<std::string_view> read_hwcap() {
  std::vector<std::string_view> out;
  for (const hwcap_bit& h : hwcap_bits)
    if ((::getauxval(h.vector) >> h.bit) & 1) out.push_back(h.name);
  return out;
}

/// Bits of this thread's SVE vectors; 0 without SVE.
inline int read_sve_bits() {
  constexpr int get_vector_length = 51;  // PR_SVE_GET_VL
  const int said = ::prctl(get_vector_length, 0, 0, 0, 0);
  return said < 0 ? 0 : 8 * (said & 0xffff);
}

}  // namespace tilewright::target::detail
