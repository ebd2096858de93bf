// Which arguments are weights.
#pragma once

#include <cstddef>
#include <vector>

#include <tilewright/ir/bound_weights.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::search::detail {

/// Positions of the parameters that keep their contents from call to call.
inline std::vector<std::size_t> bound_positions(const ir::function& f) {
  const std::vector<ir::buffer> bound = ir::bound_weights(f);
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < f.params.size(); ++i)
    if (f.params[i].buffer && support::contains(bound, f.params[i].buffer)) out.push_back(i);
  return out;
}

}  // namespace tilewright::search::detail
