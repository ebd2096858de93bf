// NumPy's .npy files, versions 1 to 3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/support/dtype.hpp>

namespace tool {

/// An array at rest: elements in row-major order.
struct npy_array {
  tilewright::dtype type = tilewright::dtype::f32;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;
};

/// bfloat16, which NumPy lacks, is written as two-byte void elements; `wanted` tells how to read
/// those.
/// @throws input_error when the file is no array, is cut off, or has another element type
npy_array read_npy(const std::string& path, tilewright::dtype wanted);
/// The same of the bytes of a file, which messages call `path`.
/// @throws input_error as read_npy does
npy_array parse_npy(const std::string& path, std::string_view file, tilewright::dtype wanted);
/// NumPy's name of the element type of an array, as "<f4"; what stands there may be anything.
/// @throws input_error when the bytes are no array
std::string npy_element(const std::string& path, std::string_view file);
/// @throws input_error when the file cannot be written
void write_npy(const std::string& path, const npy_array& array);

}  // namespace tool
