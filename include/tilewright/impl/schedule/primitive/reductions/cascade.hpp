// Cascades: reductions along one axis that need each other's results, computed part by part of that axis.
//
// Attention needs the maximum of a row of scores, the sum of exponentials relative to it, and a sum of
// values weighted by these; each of the three waits for the one before. In parts of the axis all three are
// computed of a part alone, and results of parts combine, since sums of exp(x - m) are those of exp(x - n) times
// exp(n - m) (Milakov and Gimelshein, arXiv 1805.02867; Dao et al., arXiv 2205.14135).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <tilewright/ir/stmt.hpp>

namespace tilewright::primitive {

/// A function with a cascade in parts, or the reason why there is none.
struct parted_cascade {
  std::optional<ir::function> function;
  std::string refusal;      // what a reader needs to know, without the name of the function
  std::int64_t extent = 0;  // of the axis; 0: there is no cascade
  bool wide = false;        // a reduction has results along more axes than the maximum
  std::string head;         // the block of the maximum
  std::string widest;       // the block of that reduction, or of the last one
  std::size_t common = 0;   // axes of the results of the maximum
};

/// The function with the reductions of a cascade computed in parts of `length` along their axis; the first
/// cascade for which that can be done.
/// ```
/// for i, j: M[i] = max(M[i], X[i, j])
/// for i, j: E[i, j] = exp(X[i, j] - M[i])
/// for i, j: S[i] += E[i, j]
/// for i, e, j: Y[i, e] += E[i, j] * V[j, e]
/// for i, e: Z[i, e] = Y[i, e] / S[i]
///   ->
/// for i, p, j: M_part[i, p] = max(M_part[i, p], X[i, p * length + j])
/// for i, p, j: E_part[i, p, j] = exp(X[i, p * length + j] - M_part[i, p])
/// for i, p, j: S_part[i, p] += E_part[i, p, j]
/// for i, p, e, j: Y_part[i, p, e] += E_part[i, p, j] * V[p * length + j, e]
/// for i, e, p: M_whole[i, e], S_whole[i, e], Y[i, e] = combined with M_part[i, p], S_part[i, p], Y_part[i, p, e]
/// for i, e: Z[i, e] = Y[i, e] / S_whole[i, e]
/// ```
/// A cascade begins with a reduction over one variable; to it belong the nests of their own after it
/// that need its results, or those of each other, at one place of the axis. Each of its reductions is
/// independent of the others, or a sum of products one factor of which is exp(x - m), m being the maximum of x.
/// One of them may have results along more axes than the others; these have theirs along its axes then.
parted_cascade reduce_in_parts(const ir::function& f, std::int64_t length);

/// The function with the reductions of a cascade in one block, whose instances have `rows` rows and a part of
/// `length` of the axis each: they add the part to what the parts before have, in the results themselves.
/// ```
/// for i_tile, part:
///   init: M[i] = lowest; S[i] = 0; Y[i, e] = 0                          for the rows i of the tile
///   factor[r] = M[i]; M[i] = max(M[i], X[i, j]); factor[r] = exp(factor[r] - M[i])
///   E_part[r, c] = exp(X[i, j] - M[i])                                 for the places j of the part
///   S[i] = S[i] * factor[r]; S[i] += E_part[r, c]
///   Y[i, e] = Y[i, e] * factor[r]; Y[i, e] += E_part[r, c] * V[j, e]
/// ```
/// So a tile has one set of sums, where parts that are combined need two. Elements that a product takes rounded to
/// 16 bits, as `T.cast(T.cast(E[i, j], "float16"), "float32")`, become a tile of that type.
parted_cascade reduce_running(const ir::function& f, std::int64_t rows, std::int64_t length);

/// The function with the rows of a cascade, and the axis of its reductions, as long as the next multiples of `rows` and
/// `length`: operands are copied before, zeros beyond their end, and elements beyond the end of the axis are minus
/// infinity, so that their exponentials are 0. What reads results behind the cascade reads what it read.
/// ```
/// for i, j in grid(77, 77): M[i] = max(M[i], X[i, j])
///   ->   (multiples of 32 and 64)
/// for i, j in grid(96, 128): X_pad[i, j] = if_then_else(i < 77 and j < 77, X[i, j], 0)
/// for i, j in grid(96, 128): M[i] = max(M[i], select(j < 77, X_pad[i, j], -infinity))
/// ```
parted_cascade pad_cascade(const ir::function& f, std::int64_t rows, std::int64_t length);

}  // namespace tilewright::primitive
