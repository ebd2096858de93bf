#pragma once

#include <tilewright/expr/alternatives.hpp>
#include <tilewright/ir/alternatives.hpp>

namespace tilewright {

TILEWRIGHT_INLINE ir::function reify(const std::vector<any_kernel>& algorithms,
                                     const dim_values& dims) {
  std::vector<ir::function> others;
  for (std::size_t i = 1; i < algorithms.size(); ++i) others.push_back(reify(algorithms[i], dims));
  return ir::with_alternatives(reify(algorithms.at(0), dims), others);
}

}  // namespace tilewright
