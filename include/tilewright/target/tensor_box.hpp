// Boxes of a tensor that the copy engine of a Hopper GPU moves as one (TMA): what may be asked of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/support/dtype.hpp>

namespace tilewright::target {

/// A tensor in global memory and the box of it that one instruction copies. Dimensions are listed from the
/// innermost one on, as the driver lists them.
struct tensor_box {
  static constexpr std::size_t max_rank = 5;

  dtype type = dtype::f32;            // of elements
  std::vector<std::int64_t> extents;  // of the tensor, elements
  std::vector<std::int64_t>
      strides;                    // of the tensor, bytes: of all dimensions but the innermost one
  std::vector<std::int64_t> box;  // elements
  /// Bytes of a row of shared memory in which pieces of 16 change places, by the number of the row:
  /// 32, 64 or 128; 0: rows lie as they are.
  std::int64_t swizzle = 0;

  /// Of a whole box, be it partly outside of the tensor.
  std::int64_t bytes_of_box() const;
  /// What the place of a box in shared memory is a multiple of, bytes.
  std::int64_t alignment() const noexcept;
  /// Which rule of the copy engine it breaks; empty where it breaks none:
  /// 1. one to five dimensions, and as many extents and sides of the box;
  /// 2. elements of a type that the engine knows: f16, bf16, f32, f64, and integers but i16;
  /// 3. the innermost dimension is dense, and other strides are multiples of 16 bytes, below 2^40;
  /// 4. extents are 1 to 2^32, sides of the box 1 to 256;
  /// 5. rows of the box have a multiple of 16 bytes, and as many as they are swizzled over.
  std::string why_not() const;

  friend bool operator==(const tensor_box&, const tensor_box&) = default;
};

}  // namespace tilewright::target
