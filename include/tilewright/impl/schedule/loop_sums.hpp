// Sums over the loops around a block, for what finds footprints.
#pragma once

#include <cstdint>
#include <vector>

#include <tilewright/schedule/footprint.hpp>

namespace tilewright::primitive::detail::footprints {

using arith::bounds;
using arith::linear;

inline linear constant(std::int64_t value, dtype type) {
  linear out;
  out.constant = value;
  out.type = type;
  return out;
}

inline arith::analyzer knowing(const std::vector<const ir::loop_node*>& loops) {
  arith::analyzer known;
  known.bind(domains(loops));
  return known;
}

}  // namespace tilewright::primitive::detail::footprints
