// Divisors of extents, for tiles that leave nothing over.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tilewright::support {

/// The largest divisor of `n` that is at most `most`, found in about 2 sqrt(n) steps at most; either counts as 1
/// where it is less.
constexpr std::int64_t largest_divisor(std::int64_t n, std::int64_t most) {
  n = std::max<std::int64_t>(n, 1);
  most = std::max<std::int64_t>(most, 1);
  if (most >= n) return n;
  std::int64_t other = (n - 1) / most + 1;  // n / other <= most
  for (; other <= n / other; ++other)
    if (n % other == 0) return n / other;
  for (std::int64_t out = std::min(most, other);; --out)
    if (n % out == 0) return out;
}

}  // namespace tilewright::support
