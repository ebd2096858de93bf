// The file of a saved network: a header, the plan, and what kernels read, each on pages of its own.
//
// File = magic[8], then words of 8 bytes little-endian: size of the file, size of the plan, digest hi
// and lo of all that follows the header; then the plan, and from the next page on the constants. The
// plan names constants by their offset in the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/model/executable.hpp>
#include <tilewright/model/saved_model.hpp>
#include <tilewright/search/database/database.hpp>
#include <tilewright/support/hash.hpp>

namespace tilewright::network {

inline constexpr std::string_view model_file_magic = "TWMODEL2";
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

/// All of a file but the constants.
struct saved_plan {
  std::string name;
  std::vector<network_port> inputs, outputs;
  std::int64_t arena_bytes = 0;
  std::vector<saved_kernel> kernels;
  std::vector<saved_copy> copies;
};

/// Writes a model beside `path` and moves it there when it is whole.
/// @param source names and types of its arguments
/// @throws build_error when code cannot be made, argument_error when the file cannot be written
void write_model_file(const std::string& path, const executable& program, const graph& source,
                      search::database& db, std::uint64_t seed);

/// The plan of a file. The bytes are not trusted.
/// @throws argument_error for what is no such file, was altered, or is no plan
saved_plan read_model_file(const std::byte* bytes, std::size_t size);

/// Digest of large memory, at the speed of memory.
support::hash128 digest_of(const std::byte* bytes, std::size_t size);

}  // namespace tilewright::network
