// Lists of dimensions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <tilewright/model/graph.hpp>

namespace tilewright::network::detail {

inline bool is_in(const std::vector<std::size_t>& list, std::size_t d) {
  return std::find(list.begin(), list.end(), d) != list.end();
}

inline shape reduced_shape(const shape& from, const std::vector<std::size_t>& axes, bool keep) {
  shape out;
  for (std::size_t d = 0; d < from.size(); ++d) {
    if (!is_in(axes, d))
      out.push_back(from[d]);
    else if (keep)
      out.push_back(1);
  }
  return out;
}

}  // namespace tilewright::network::detail
