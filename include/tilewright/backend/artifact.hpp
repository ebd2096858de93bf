// What compilation produces and a database keeps: bytes that can be loaded without LLVM.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/config.hpp>

namespace tilewright::backend {

/// A compiled kernel at rest. Where weights are bound it has a second entry, which runs once and
/// fills buffers that every call reads (pass/prepare_weights.hpp).
struct artifact {
  std::vector<std::byte> object;           // relocatable ELF64 object, x86-64
  std::string symbol;                      // the entry's name in it
  std::int64_t workspace_bytes = 0;        // bytes that a call must bring
  std::string isa;                         // target::cpu::isa_key() it was compiled for
  std::vector<std::int64_t> packed_bytes;  // of the buffers that follow the parameters
  std::vector<artifact> preparation;       // fills them; at most one, same parameters

  friend bool operator==(const artifact& a, const artifact& b) {
    return a.object == b.object && a.symbol == b.symbol && a.workspace_bytes == b.workspace_bytes &&
           a.isa == b.isa && a.packed_bytes == b.packed_bytes && a.preparation == b.preparation;
  }
};

/// Self-describing bytes with a length and a checksum; equal artifacts give equal bytes.
std::vector<std::byte> serialize(const artifact& a);

/// Inverse of `serialize`. The bytes are not trusted.
/// @throws build_error naming what is wrong: too short, another format, checksum
artifact deserialize(const std::byte* bytes, std::size_t size);

}  // namespace tilewright::backend
