// What a call's arguments must be like before code runs on them.
//
// Extents and strides are checked once per set of them, addresses and index values at every call.
#pragma once

#include <cstdint>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/dispatch/signature.hpp>
#include <tilewright/search/check/shrink.hpp>
#include <tilewright/search/measurement/operands.hpp>

namespace tilewright::dispatch {

/// Bytes that a call may touch of one argument, relative to its element 0.
struct touched_bytes {
  std::int64_t first = 0, last = -1;  // last < first: none
  std::int64_t element_bytes = 1;
  bool written = false;
  bool none() const { return last < first; }
};

/// Extents of the named dimensions.
/// @throws argument_error unless arguments that share a dimension agree on its extent, static
/// extents are met, and no extent is negative
search::extent_map bound_extents(const kernel_signature& kernel, const call_argument* arguments);

/// @throws argument_error when strides reach beyond what memory can hold, or elements of an output
/// share memory
void check_strides(const kernel_signature& kernel, const call_argument* arguments);

/// One entry per parameter. Needs strides that passed check_strides.
std::vector<touched_bytes> touched_bytes_of(const kernel_signature& kernel,
                                            const call_argument* arguments);

/// @throws argument_error when data are null where there are elements, not aligned to their type,
/// or an output overlaps another argument
void check_memory(const kernel_signature& kernel, const std::vector<touched_bytes>& touched,
                  const call_argument* arguments);

/// @param operands of the kernel at these extents
/// @throws argument_error when an element that is used as an index is out of its bounds
void check_indices(const kernel_signature& kernel, const std::vector<search::operand>& operands,
                   const call_argument* arguments);

}  // namespace tilewright::dispatch
