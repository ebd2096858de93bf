// Whether two arguments share memory: blocks and columns of one matrix lie between each other
// without doing so.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tilewright/config.hpp>

namespace tilewright::dispatch {

/// Where the elements of a tensor lie. Extents are positive.
struct strided_memory {
  const void* data = nullptr;  // element 0
  const std::int64_t* extents = nullptr;
  const std::int64_t* strides = nullptr;  // elements, of any sign
  std::size_t rank = 0;                   // 8 at most
  std::int64_t element_bytes = 1;
};

/// Whether some byte belongs to an element of both. Where strides are such that this takes long to
/// find out, the answer is yes.
bool share_memory(const strided_memory& a, const strided_memory& b);

}  // namespace tilewright::dispatch
