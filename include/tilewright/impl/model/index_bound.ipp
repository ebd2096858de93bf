#pragma once

#include <tilewright/model/operators.hpp>

namespace tilewright::network {

TILEWRIGHT_INLINE std::optional<std::int64_t> index_bound::outside(const void* data,
                                                                   const tensor_type& t) const {
  const constant c(t, data, nullptr);
  std::size_t which = 0;
  for (std::int64_t k = 0; k < t.elements(); ++k) {
    const std::int64_t i = c.integer(k), extent = extents[which];
    if (i < -extent || i >= extent) return i;
    which = which + 1 == extents.size() ? 0 : which + 1;
  }
  return std::nullopt;
}

}  // namespace tilewright::network
