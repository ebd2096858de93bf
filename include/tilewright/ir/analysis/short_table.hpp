// Tables so short that vectors are looked up in registers.
#pragma once

#include <cstdint>

#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/expr.hpp>

namespace tilewright::ir {

/// Whether the expression reads an element of a row of 2 to 64 elements at a place that memory tells, as a code book is read: lanes
/// of vectors that do so load nothing but their places.
inline bool reads_short_table(const expr& e) {
  constexpr std::int64_t most = 64;
  if (e->op != op::load || e->args.empty() || !reads_memory(e->args.back())) return false;
  const expr& extent = e->buffer->shape.back();
  return is_int(extent) && as_int(extent) >= 2 && as_int(extent) <= most;
}

}  // namespace tilewright::ir
