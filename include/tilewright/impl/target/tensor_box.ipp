#pragma once

#include <tilewright/target/tensor_box.hpp>

namespace tilewright::target {

TILEWRIGHT_INLINE std::int64_t tensor_box::bytes_of_box() const {
  std::int64_t out = bytes(type);
  for (const std::int64_t side : box) out *= side;
  return out;
}

/// Rows whose pieces change places repeat every eight steps of 128 bytes.
TILEWRIGHT_INLINE std::int64_t tensor_box::alignment() const noexcept {
  return swizzle > 0 ? 8 * swizzle : 128;
}

TILEWRIGHT_INLINE std::string tensor_box::why_not() const {
  const auto number = [](std::int64_t n) { return std::to_string(n); };
  const auto dimension = [](std::size_t d) {
    return std::to_string(d) + " from the innermost one on";
  };
  const std::size_t rank = extents.size();
  if (rank < 1 || rank > max_rank || box.size() != rank || strides.size() + 1 != rank)
    return "a tensor of " + number(static_cast<std::int64_t>(rank)) +
           " dimensions; the copy engine takes one to five (rule 1)";
  if (type == dtype::boolean || type == dtype::handle || type == dtype::i16)
    return "elements of " + std::string(name(type)) +
           ", which the copy engine does not know (rule 2)";
  constexpr std::int64_t piece = 16;
  for (std::size_t d = 0; d < strides.size(); ++d)
    if (strides[d] <= 0 || strides[d] % piece != 0 || strides[d] >= std::int64_t{1} << 40)
      return "a stride of " + number(strides[d]) + " bytes in dimension " + dimension(d + 1) +
             "; it has to be a multiple of 16 (rule 3)";
  for (std::size_t d = 0; d < rank; ++d) {
    if (extents[d] < 1 || extents[d] > std::int64_t{1} << 32)
      return "an extent of " + number(extents[d]) + " in dimension " + dimension(d) + " (rule 4)";
    if (box[d] < 1 || box[d] > 256)
      return "a side of " + number(box[d]) + " elements in dimension " + dimension(d) +
             "; a side of a box has 1 to 256 (rule 4)";
  }
  const std::int64_t row = box[0] * bytes(type);
  if (row % piece != 0 || (swizzle > 0 && row != swizzle))
    return "rows of " + number(row) + " bytes; they have to be a multiple of 16" +
           (swizzle > 0 ? ", here " + number(swizzle) : "") + " (rule 5)";
  if (swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128)
    return "rows that are swizzled over " + number(swizzle) + " bytes (rule 5)";
  return {};
}

}  // namespace tilewright::target
