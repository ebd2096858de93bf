// How often a program meets the same memory, as curves that do not depend on its shape: AutoTVM's
// relation features.
//
// Of a buffer below the innermost loops, each loop around it gives a reuse, a count of addresses and
// the iterations from the outermost loop to it (loop_context.hpp), as logarithms to base 2. With a 0
// in front and sorted they are the knots of step functions count -> reuse, reuse -> count, count ->
// iterations and iterations -> count, which are sampled at 0, 1, 2, ... AutoTVM takes the buffers as
// they come, so that only programs with equally many compare; here the largest come first, and there
// are always as many.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/cost/loop_context.hpp>

namespace tilewright::cost {

inline constexpr std::size_t curve_buffers = 5;

/// The curves of a program. A buffer is named as its touches are, without their number; of those at
/// the deepest level the last touch counts. Smaller buffers than the first five are left out, and
/// where there are fewer the rest is 0.
/// @param points of each curve; AutoTVM's tuner takes 20
/// @returns // [curve_buffers, 4 curves, points, 2]: the value at the last knot that is not above the
/// point, and how far beyond the knot the point is
std::vector<float> curve_features(std::span<const loop_context> loops, std::size_t points = 20);

}  // namespace tilewright::cost
