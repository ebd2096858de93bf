// What compilation produces and a database keeps: bytes that can be loaded without LLVM.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/config.hpp>

namespace tilewright::backend {

/// A compiled kernel at rest.
struct artifact {
  std::vector<std::byte> object;     // relocatable ELF64 object, x86-64
  std::string symbol;                // the entry's name in it
  std::int64_t workspace_bytes = 0;  // bytes that a call must bring
  std::string isa;                   // target::cpu::isa_key() it was compiled for

  friend bool operator==(const artifact&, const artifact&) = default;
};

/// Self-describing bytes with a length and a checksum; equal artifacts give equal bytes.
std::vector<std::byte> serialize(const artifact& a);

/// Inverse of `serialize`. The bytes are not trusted.
/// @throws build_error naming what is wrong: too short, another format, checksum
artifact deserialize(const std::byte* bytes, std::size_t size);

}  // namespace tilewright::backend
