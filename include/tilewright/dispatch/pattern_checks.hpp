// What the offsets and indices of a sparse argument must be like before code runs on them.
//
// Code takes them at their word: an offset or an index that lies leads it out of memory. A look at
// all of them costs a share of a product with few columns, so that a pattern that was seen before is
// recognized by where it lies and by a sample of its elements.
#pragma once

#include <cstdint>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/dispatch/signature.hpp>
#include <tilewright/search/measurement/operands.hpp>

namespace tilewright::dispatch {

/// Checks offsets and indices of all sparse arguments.
/// It requires: 1) offsets begin with 0, never decrease, and end with the number of indices; 2)
/// indices are in the columns; 3) they rise within a row, so that none occurs twice.
/// @param operands of the kernel at these extents
/// @throws argument_error naming the array, the position and the value
void check_patterns(const kernel_signature& kernel, const std::vector<search::operand>& operands,
                    const call_argument* arguments);

/// The same for patterns that this thread does not know.
void check_new_patterns(const kernel_signature& kernel,
                        const std::vector<search::operand>& operands,
                        const call_argument* arguments);

/// A number for the offsets of all sparse arguments.
/// @param operands of the kernel at these extents
/// @param may_change offsets may be others at the same place: all of them are read, and else a sample
std::uint64_t number_of_offsets(const std::vector<search::operand>& operands,
                                const call_argument* arguments, bool may_change);

}  // namespace tilewright::dispatch
