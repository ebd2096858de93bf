// Loads of a local buffer whose lanes lie anywhere in two of its vectors, as one shuffle of these.
//
//   part[l + l // 2 * 2], l in vectorized(8)   ->   lanes 0 1 4 5 8 9 12 13 of part[0:8] and part[8:16]
//
// Local buffers turn into registers where they are loaded and stored in whole vectors; a load of each lane would keep
// them in memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <tilewright/backend/llvm/emit.hpp>

namespace tilewright::backend::llvm {

/// What an integer is in one lane; nothing where it isn't known at this point.
TILEWRIGHT_INLINE std::optional<std::int64_t> emitter::lane_value(const ir::expr& e,
                                                                  int lane_number) {
  if (e->op == ir::op::integer) return e->integer;
  if (e->op == ir::op::var) {
    const auto found = bound.find(e.get());
    if (found == bound.end()) return std::nullopt;
    const binding& known = found->second;
    if (known.is == binding::kind::constant) return known.constant;
    if (known.is == binding::kind::lane) return known.constant + lane_number;
    return std::nullopt;
  }
  if (e->op == ir::op::cast && !is_float(e->args[0].type()))
    return lane_value(e->args[0], lane_number);
  const bool computes = e->op == ir::op::add || e->op == ir::op::sub || e->op == ir::op::mul ||
                        e->op == ir::op::floordiv || e->op == ir::op::floormod;
  if (!computes) return std::nullopt;
  const std::optional<std::int64_t> x = lane_value(e->args[0], lane_number),
                                    y = lane_value(e->args[1], lane_number);
  if (!x || !y) return std::nullopt;
  switch (e->op) {
    case ir::op::add: return *x + *y;
    case ir::op::sub: return *x - *y;
    case ir::op::mul: return *x * *y;
    default: break;
  }
  if (*y <= 0) return std::nullopt;
  return e->op == ir::op::floordiv ? ir::floor_divide(*x, *y) : ir::floor_modulo(*x, *y);
}

/// The element of the buffer that each lane loads; empty where that isn't known.
TILEWRIGHT_INLINE std::vector<std::int64_t> emitter::lane_elements(const ir::expr& load,
                                                                   const place& p) {
  std::vector<std::int64_t> out;
  for (int i = 0; i < lane.lanes; ++i) {
    std::int64_t element = 0;
    for (std::size_t d = 0; d < load->args.size(); ++d) {
      const std::optional<std::int64_t> here = lane_value(load->args[d], i);
      if (!here || !p.strides[d].fixed()) return {};
      element += *here * p.strides[d].constant;
    }
    out.push_back(element);
  }
  return out;
}

/// Null where the buffer isn't local, or the lanes aren't known to lie in two of its vectors.
TILEWRIGHT_INLINE value_ref emitter::load_shuffled(const ir::expr& e, const place& p) {
  const ir::buffer& from = e->buffer;
  if (from->scope != "local" || !from->strides.empty() || from->elem_offset) return nullptr;
  const std::vector<std::int64_t> elements = lane_elements(e, p);
  if (elements.empty()) return nullptr;
  std::int64_t size = 1;
  for (const ir::expr& extent : from->shape) size *= bounds(extent).lo;
  const std::int64_t lanes = lane.lanes;
  const auto [first, last] = std::minmax_element(elements.begin(), elements.end());
  const std::int64_t low = *first / lanes, high = *last / lanes;
  if (*first < 0 || (high + 1) * lanes > size) return nullptr;
  std::vector<std::int64_t> chosen;
  for (const std::int64_t element : elements) {
    const std::int64_t vector = element / lanes;
    if (vector != low && vector != high) return nullptr;
    chosen.push_back((vector == low ? 0 : lanes) + element % lanes);
  }
  const auto loaded = [&](std::int64_t vector) {
    affine at_vector;
    at_vector.constant = vector * lanes;
    return b.load(b.stored(p.type, lane.lanes), pointer(p, at_vector), alignment(p, at_vector));
  };
  const value_ref lower = loaded(low);
  return b.c.BuildShuffleVector(b.b, lower, high == low ? lower : loaded(high),
                                b.integers(b.i32, chosen), "");
}

}  // namespace tilewright::backend::llvm
