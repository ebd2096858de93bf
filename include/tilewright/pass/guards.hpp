// Affine guards: the conditions that non-dividing tiles and padding leave in loop nests.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/ir/stmt.hpp>

namespace tilewright::pass {

/// `sum <= 0` for an integer comparison < <= > >=; nothing for other conditions.
std::optional<arith::linear> as_nonpositive(const ir::expr& condition);

/// Loops that will be written out in registers: unrolled and vectorized ones of constant extent,
/// and, inside a reduction loop, small serial ones without loops that stay.
bool is_tile_loop(const ir::loop_node& loop, bool inside_reduction);

bool is_reduction(const ir::loop_node& loop);

}  // namespace tilewright::pass
