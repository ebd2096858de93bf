// What compilation produces and a database keeps: bytes that can be loaded without LLVM.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/target/tensor_box.hpp>

namespace tilewright::backend {

/// Where one argument of a launch comes from.
struct launch_argument {
  enum class kind : std::uint8_t {
    buffer,     // address of the parameter `index`
    scalar,     // value of the parameter `index`, `bytes` wide
    stride,     // entry `index` of call::strides, 8 bytes
    workspace,  // address of byte `index` of the workspace
    tensor_map  // entry `index` of launch::tensor_maps, as 128 bytes that the driver encodes
  };
  kind from = kind::buffer;
  std::uint8_t bytes = 8;
  std::int64_t index = 0;

  friend bool operator==(const launch_argument&, const launch_argument&) = default;
};

/// A tensor that a kernel copies boxes of (target/tensor_box.hpp). What it is encoded with is known at the call:
/// the address of a parameter, a multiple of 16 bytes.
struct tensor_map {
  launch_argument::kind from = launch_argument::kind::buffer;  // or workspace
  std::int64_t index = 0;                                      // as in launch_argument
  target::tensor_box what;

  friend bool operator==(const tensor_map&, const tensor_map&) = default;
};

/// One kernel of a GPU artifact and the grid that it is started on.
struct launch {
  std::string symbol;
  std::array<std::uint32_t, 3> grid{1, 1, 1};     // blocks along x, y, z
  std::array<std::uint32_t, 3> block{1, 1, 1};    // threads along x, y, z
  std::array<std::uint32_t, 3> cluster{1, 1, 1};  // blocks along x, y, z
  std::int64_t shared_bytes = 0;                  // dynamic shared memory of a block
  std::vector<launch_argument> arguments;
  std::int32_t registers = 0;      // of a thread
  std::int64_t spilled_bytes = 0;  // stored and loaded, of a thread
  std::vector<tensor_map> tensor_maps{};

  friend bool operator==(const launch& a, const launch& b);
};

/// A compiled kernel at rest: one image, and what is started of it. A CPU object has one entry,
/// `symbol`; a GPU image has launches, which follow each other on one stream. Where weights are bound
/// there is a second artifact, which runs once and fills buffers that every call reads
/// (pass/prepare_weights.hpp).
struct artifact {
  std::vector<std::byte> object;     // relocatable ELF64 object, x86-64; or a cubin
  std::string symbol;                // the entry's name in it; empty for a GPU
  std::int64_t workspace_bytes = 0;  // bytes that a call must bring
  std::string isa;  // it was compiled for: target::cpu::isa_key(), or "nvidia:" + gpu::architecture
  std::vector<std::int64_t> packed_bytes;  // of the buffers that follow the parameters
  std::vector<artifact> preparation;       // fills them; at most one, same parameters
  std::vector<launch> launches;            // of a GPU image, in order

  friend bool operator==(const artifact& a, const artifact& b);
};

/// Self-describing bytes with a length and a checksum; equal artifacts give equal bytes.
std::vector<std::byte> serialize(const artifact& a);

/// Inverse of `serialize`. The bytes are not trusted.
/// @throws build_error naming what is wrong: too short, another format, checksum
artifact deserialize(const std::byte* bytes, std::size_t size);

}  // namespace tilewright::backend
