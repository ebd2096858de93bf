// Module: iteration variables of which quotients and remainders are indices become one variable per
// digit, as the channels of a grouped convolution.
#pragma once

#include <string>

#include <tilewright/space/space.hpp>

namespace tilewright::space {

/// Splits every variable `v` of the block of which an access uses `v // d` or `v % d`, where d divides
/// its extent and is smaller, into two:
/// ```
/// for k, q, c in grid(128, 28, 16): Y[k, q] += X[k // 32 * 16 + c, q] * F[k, c]
/// ->  for g, k, q, c in grid(4, 32, 28, 16):
///       Y[g * 32 + k, q] += X[g * 16 + c, q] * F[g * 32 + k, c]
/// ```
/// so that all accesses are sums of multiples of variables, along which vectors and tiles of
/// registers can be made. Does nothing where the block's variables are not its loops, one to one.
void split_groups(schedule& s, const std::string& block);

}  // namespace tilewright::space
