// Values for the arguments of a function: made up, or copies of a caller's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/search/measurement/argument_layout.hpp>
#include <tilewright/search/measurement/operands.hpp>
#include <tilewright/support/random.hpp>

namespace tilewright::search {

/// What made-up values look like.
enum class value_set : std::uint8_t {
  /// Floats in [-1, 1), or in [0.25, 1.25) where the function divides or takes roots or logarithms;
  /// where exponents are sums of n products, these times 1 / sqrt(n), in the other set, too;
  /// small integers; indices in their bounds. What is measured computes with these.
  usual,
  /// What is only compared: integers of the whole range, half of them its ends, where nothing but data
  /// depends on them; floats that are large or tiny by powers of two, with either zero, and, where
  /// they add up, in units so coarse that sums cancel exactly in any order. The rest is usual.
  extreme
};

/// Fills one argument with reproducible values.
/// @param number of the parameter: neighbours differ in magnitude
void make_up(const operand& o, const value_needs& needs, std::byte* element0,
             const std::vector<std::int64_t>& strides, support::random random,
             value_set set = value_set::usual, std::size_t number = 0);

/// The elements of an argument in row-major order. // strides: elements
std::vector<std::byte> packed_elements(const operand& o, const std::byte* element0,
                                       const std::vector<std::int64_t>& strides);
/// Inverse of `packed_elements`; `elements` holds as many bytes as it gives.
void unpack_elements(const operand& o, std::byte* element0,
                     const std::vector<std::int64_t>& strides,
                     const std::vector<std::byte>& elements);

}  // namespace tilewright::search
