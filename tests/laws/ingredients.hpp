// What random steps are made of besides blocks and loops: index maps and intrinsics.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <laws/random_programs.hpp>

namespace laws {

template <class T>
void shuffle(std::vector<T>& list, support::random& draw) {
  for (std::size_t i = list.size(); i > 1; --i)
    std::swap(list[i - 1],
              list[static_cast<std::size_t>(pick(draw, static_cast<std::int64_t>(i)))]);
}

/// `lambda i0, i1: (i1, i0 // 4, i0 % 4,)`: permuted, split and fused indices of these extents;
/// sometimes not invertible.
std::string random_map(const std::vector<std::int64_t>& extents, support::random& draw);

/// Makes intrinsics known that occur in random programs, each for int32 and float32: "laws_dot_*",
/// "laws_sum_*" and "laws_peak_*" over four elements, "laws_product_*" of matrices of 2 x 2.
void add_intrinsics();

}  // namespace laws
