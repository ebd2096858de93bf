// Relocations of AArch64 code (ELF for the Arm 64-bit Architecture, section 5.7), as far as code of the
// small position-independent model has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include <tilewright/impl/backend/elf.hpp>

namespace tilewright::backend::detail::aarch64 {

enum : std::uint32_t {
  r_abs64 = 257,
  r_abs32 = 258,
  r_prel64 = 260,
  r_prel32 = 261,
  r_ld_prel_lo19 = 273,
  r_adr_prel_lo21 = 274,
  r_adr_prel_pg_hi21 = 275,
  r_add_abs_lo12_nc = 277,
  r_ldst8_abs_lo12_nc = 278,
  r_tstbr14 = 279,
  r_condbr19 = 280,
  r_jump26 = 282,
  r_call26 = 283,
  r_ldst16_abs_lo12_nc = 284,
  r_ldst32_abs_lo12_nc = 285,
  r_ldst64_abs_lo12_nc = 286,
  r_ldst128_abs_lo12_nc = 299,
  r_adr_got_page = 311,
  r_ld64_got_lo12_nc = 312
};

/// Whether it is about the table slot of its symbol.
inline bool wants_slot(std::uint32_t kind) {
  return kind == r_adr_got_page || kind == r_ld64_got_lo12_nc;
}

/// Bytes that it changes.
inline std::uint64_t width(std::uint32_t kind) {
  return kind == r_abs64 || kind == r_prel64 ? 8 : 4;
}

/// Puts a number of `bits` bits at bit `at` of an instruction.
inline void set_field(std::byte* to, unsigned at, unsigned bits, std::uint64_t value) {
  std::uint32_t word = 0;
  std::memcpy(&word, to, sizeof word);
  const std::uint32_t mask = ((std::uint32_t{1} << bits) - 1) << at;
  word = (word & ~mask) | ((static_cast<std::uint32_t>(value) << at) & mask);
  std::memcpy(to, &word, sizeof word);
}

/// A distance of at most `bits` bits in units of `unit` bytes. @throws build_error
inline std::uint64_t distance(std::uint64_t from, std::uint64_t to, unsigned bits,
                              std::int64_t unit) {
  const auto bytes = static_cast<std::int64_t>(to - from);
  const std::int64_t limit = (std::int64_t{1} << (bits - 1)) * unit;
  if (bytes < -limit || bytes >= limit) elf::refuse("a relocation does not reach its target");
  if (bytes % unit != 0) elf::refuse("a relocation points between two instructions");
  return static_cast<std::uint64_t>(bytes / unit);
}

/// The address within its page of 4 KiB, in units of `unit` bytes.
inline std::uint64_t in_page(std::uint64_t address, std::uint64_t unit) {
  const std::uint64_t low = address & 0xfff;
  if (low % unit != 0) elf::refuse("a relocation points into the middle of what is loaded");
  return low / unit;
}

/// adr and adrp have the two lowest bits of their number apart from the others.
inline void set_adr(std::byte* to, std::uint64_t value) {
  set_field(to, 29, 2, value);
  set_field(to, 5, 19, value >> 2);
}

/// Changes what lies at `to` and will run at `here` so that it means `target`: symbol and addend, or
/// the slot that holds the symbol's address.
/// @throws build_error for what does not reach, and for other kinds
inline void relocate(std::uint32_t kind, std::byte* to, std::uint64_t here, std::uint64_t target) {
  constexpr std::uint64_t page = 0xfff;
  switch (kind) {
    case r_abs64: std::memcpy(to, &target, 8); return;
    case r_prel64: {
      const std::uint64_t word = target - here;
      std::memcpy(to, &word, 8);
      return;
    }
    case r_abs32: {
      if (target >> 32 != 0) elf::refuse("a relocation does not reach its target");
      const auto word = static_cast<std::uint32_t>(target);
      std::memcpy(to, &word, 4);
      return;
    }
    case r_prel32: {
      const auto word = static_cast<std::uint32_t>(distance(here, target, 32, 1));
      std::memcpy(to, &word, 4);
      return;
    }
    case r_ld_prel_lo19:
    case r_condbr19: return set_field(to, 5, 19, distance(here, target, 19, 4));
    case r_tstbr14: return set_field(to, 5, 14, distance(here, target, 14, 4));
    case r_jump26:
    case r_call26: return set_field(to, 0, 26, distance(here, target, 26, 4));
    case r_adr_prel_lo21: return set_adr(to, distance(here, target, 21, 1));
    case r_adr_prel_pg_hi21:
    case r_adr_got_page: return set_adr(to, distance(here & ~page, target & ~page, 21, 4096));
    case r_add_abs_lo12_nc:
    case r_ldst8_abs_lo12_nc: return set_field(to, 10, 12, in_page(target, 1));
    case r_ldst16_abs_lo12_nc: return set_field(to, 10, 12, in_page(target, 2));
    case r_ldst32_abs_lo12_nc: return set_field(to, 10, 12, in_page(target, 4));
    case r_ldst64_abs_lo12_nc:
    case r_ld64_got_lo12_nc: return set_field(to, 10, 12, in_page(target, 8));
    case r_ldst128_abs_lo12_nc: return set_field(to, 10, 12, in_page(target, 16));
    default:
      throw build_error("object code uses relocation type " + std::to_string(kind) +
                        " of AArch64, which the loader does not know");
  }
}

/// Writes 16 bytes that jump to an address anywhere: ldr x16, [pc + 8]; br x16; the address.
inline void write_stub(std::byte* to, const void* address) {
  constexpr std::uint32_t code[2] = {0x58000050, 0xd61f0200};
  std::memcpy(to, code, 8);
  std::memcpy(to + 8, &address, 8);
}

}  // namespace tilewright::backend::detail::aarch64
