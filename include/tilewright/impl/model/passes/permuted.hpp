// Constants with their dimensions in another order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <tilewright/model/graph.hpp>

namespace tilewright::network::detail {

/// Dimensions of a constant in another order: dimension d of the result is p[d] of the source.
inline constant permuted(const constant& c, const std::vector<std::size_t>& p) {
  const shape& from = c.type().extents;
  shape to, step;  // step: elements of the source
  for (const std::size_t d : p) {
    to.push_back(from[d]);
    step.push_back(elements_of({from.begin() + static_cast<std::ptrdiff_t>(d) + 1, from.end()}));
  }
  auto [out, data] = constant::make({c.type().type, to});
  const auto size = static_cast<std::size_t>(bytes(c.type().type));
  std::vector<std::int64_t> at(to.size(), 0);
  std::int64_t source = 0;
  for (std::int64_t k = 0; k < c.type().elements(); ++k) {
    std::memcpy(data + static_cast<std::size_t>(k) * size,
                c.data() + static_cast<std::size_t>(source) * size, size);
    for (std::size_t d = to.size(); d-- > 0;) {
      source += step[d];
      if (++at[d] < to[d]) break;
      source -= step[d] * to[d];
      at[d] = 0;
    }
  }
  return out;
}

}  // namespace tilewright::network::detail
