// The file of a saved network: a header, plans, and what kernels read, each on pages of its own.
//
// File = magic[8], then words of 8 bytes little-endian: size of the file, size of the plans, digest hi
// and lo of all that follows the header; then the plans, one for each instruction set, and from the
// next page on the constants, which plans share. Plans name constants by their offset in the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <tilewright/model/executable.hpp>
#include <tilewright/model/saved_model.hpp>
#include <tilewright/search/database/database.hpp>
#include <tilewright/support/hash.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::network {

inline constexpr std::string_view model_file_magic = "TWMODEL3";
inline constexpr std::size_t model_file_header = 40;  // bytes
inline constexpr std::size_t model_file_page = 4096;  // bytes

/// What an argument of a kernel is, in the file.
struct saved_argument {
  enum kind : std::uint8_t { input, output, arena, constant } where = arena;
  std::int64_t number = 0;  // of the input or output
  std::int64_t at = 0;      // bytes into the input, output, arena or file
  std::int64_t bytes = 0;   // that the kernel may touch
};

struct saved_kernel {
  std::string name;                       // text of its node, for errors
  std::vector<std::byte> code;            // backend::serialize
  int threads = 1;                        // at most
  std::vector<saved_argument> arguments;  // parameters, then packed buffers
  std::vector<std::int64_t> strides;
  std::vector<launch::index_check> checks;
};

struct saved_copy {
  saved_argument from;
  std::int64_t output = 0;
};

/// All that one instruction set needs but the constants.
struct saved_plan {
  std::string isa;  // target::cpu::isa_key(), or "nvidia:" + target::gpu::architecture
  std::string name;
  std::vector<network_port> inputs, outputs;
  std::int64_t arena_bytes = 0;
  std::vector<saved_kernel> kernels;
  std::vector<saved_copy> copies;
};

/// Writes a model beside `path` and moves it there when it is whole.
/// @param source names and types of its arguments
/// @param targets CPUs whose code this machine can run, since that packs the weights; one at least
/// @throws build_error when code cannot be made, argument_error when the file cannot be written
void write_model_file(const std::string& path, const executable& program, const graph& source,
                      search::database& db, std::uint64_t seed,
                      const std::vector<target::cpu>& targets);

/// The same for GPUs.
/// @param programs one for each, in the order in which a machine that loads the file looks for its own
/// @throws build_error naming the node that no code can be made of
void write_model_file(const std::string& path,
                      const std::vector<std::shared_ptr<const executable>>& programs,
                      const graph& source, search::database& db, std::uint64_t seed);

/// The plans of a file, in the order in which they were written: widest vectors first. The bytes are not trusted.
/// @throws argument_error for what is no such file, was altered, or is no plan
std::vector<saved_plan> read_model_file(const std::byte* bytes, std::size_t size);

/// Digest of large memory, at the speed of memory.
support::hash128 digest_of(const std::byte* bytes, std::size_t size);

}  // namespace tilewright::network
