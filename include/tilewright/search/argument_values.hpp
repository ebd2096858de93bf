// Values for the arguments of a function: made up, or copies of a caller's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/search/operands.hpp>
#include <tilewright/support/random.hpp>

namespace tilewright::search {

/// Elements of each parameter in row-major order of its extents; an empty entry, or no entry, means
/// values that are made up.
using given_values = std::vector<std::vector<std::byte>>;

/// Fills one argument with reproducible sane values: floats in [-1, 1), or in [0.25, 1.25) where
/// the function divides or takes roots or logarithms; small integers; indices in their bounds.
void make_up(const operand& o, const value_needs& needs, std::byte* element0,
             const std::vector<std::int64_t>& strides, support::random random);

/// The elements of an argument in row-major order. // strides: elements
std::vector<std::byte> packed_elements(const operand& o, const std::byte* element0,
                                       const std::vector<std::int64_t>& strides);
/// Inverse of `packed_elements`; `elements` holds as many bytes as it gives.
void unpack_elements(const operand& o, std::byte* element0,
                     const std::vector<std::int64_t>& strides,
                     const std::vector<std::byte>& elements);

}  // namespace tilewright::search
