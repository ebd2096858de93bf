// Module: products that leave most of a GPU idle get their reduction split over the grid (split-K).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/space/chooser.hpp>
#include <tilewright/space/modules/auto_bind.hpp>
#include <tilewright/space/space.hpp>

namespace tilewright::space {

/// Computes a product in parts of its longest reduction loop, one partial result each, which `rfactor`
/// makes a spatial variable, and adds them up in a block of their own.
/// ```
/// for i, j, k: C[i, j] += A[i, k] * B[k, j]
///   ->  for o, i, j, x: C_rf[o, i, j] += A[i, o * n + x] * B[o * n + x, j]
///       for i, j, o: C[i, j] += C_rf[o, i, j]
/// ```
/// Rules that follow see the block of partial results as any other product. Acts on what
/// `shares_operands`, on a GPU, where blocks of `tile` results would not occupy half of its
/// multiprocessors and the loop has `least_length` iterations. Structural choice: in parts or as it is;
/// in parts first where these blocks would occupy a quarter at most. Their number is drawn, of those of
/// `parts` that give a part `least_part` terms at least, divide the loop into multiples of 16, of 4 where operands
/// have 4 bytes or more, and make no more than two blocks a multiprocessor.
struct split_k {
  std::int64_t tile = 4096;  // results, 64 x 64
  std::int64_t least_length = 512;
  std::int64_t least_part = 16;  // terms of a result
  std::vector<std::int64_t> parts{2, 4, 8, 16, 32, 64, 128};

  void operator()(schedule& s, const std::string& block, const context& where,
                  chooser& choices) const;
};

/// Gives threads to the sums of the parts that `split_k` made, each the sum of one result, or of those of
/// a vector, whose parts are loaded as vectors, where there are so many that this occupies the device. Where one block alone reads the sums, element by element, as
/// an epilogue does, these are its threads, and the sums stay in their registers; so do sums that are the
/// function's result, until all parts are in.
struct sum_parts {
  auto_bind binding;

  void operator()(schedule& s, const std::string& block, const context& where,
                  chooser& choices) const;
};

}  // namespace tilewright::space
