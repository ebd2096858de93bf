// Sums over several axes of products and quotients some of whose factors stay the same along one of them: that one is
// summed first, and the sum is multiplied, or divided, once.
#pragma once

#include <optional>

#include <tilewright/ir/stmt.hpp>

namespace tilewright::primitive {

/// The function with sums of products factored, where that leaves at most two thirds of the multiplications, a division of
/// floats being four of them.
/// ```
/// for n, r, s: Y[n] += X[n, r] * P[r, s] * Z[n, s]
///   ->
/// for n, r, s: Y_inner[n, r] += P[r, s] * Z[n, s]
/// for n, r: Y[n] += X[n, r] * Y_inner[n, r]
///
/// for n, r: Y[n] += X[n, r] / Z[n]
///   ->
/// for n, r: Y_inner[n] += X[n, r]
/// for n: Y[n] = Y_inner[n] / Z[n]
/// ```
/// A block is taken apart if it is a sum of numbers of at least 32 bits that is a nest of its own in the root block over axes
/// of literal extents. Of the sets of its reduction axes that may be summed first the one that leaves the least work is; what
/// is left is looked at again, so that a product of four matrices becomes three sums.
/// @returns nothing where no sum is better taken apart
std::optional<ir::function> factor_sums(const ir::function& f);

}  // namespace tilewright::primitive
