// Reductions over one domain as one reduction of tuples, so that what both read is read once.
//
// A sum of exp(x - m) needs the maximum m of all x before it begins; the pair of both is a reducer of its
// own, whose sums are scaled when the maximum grows (online softmax: Milakov and Gimelshein,
// arXiv 1805.02867). A variance needs the mean; it follows from sums around the first element of a row.
#pragma once

#include <optional>

#include <tilewright/ir/stmt.hpp>

namespace tilewright::primitive {

/// A function some of whose reductions are joined.
struct joined_reductions {
  ir::function function;
  bool rescales = false;  // a sum waits for a maximum, and takes more arithmetic than apart
  bool shifts =
      false;  // sums around a first element take the place of a sum around an earlier result
};

/// The function with reductions joined, each group in the place of its first one, under that one's name.
/// ```
/// for i, j: M[i] = max(M[i], X[i, j])
/// for i, j: E[i, j] = exp(X[i, j] - M[i])
/// for i, j: S[i] += E[i, j]
/// for i, j: Y[i, j] = E[i, j] / S[i]
///   ->
/// for i, j: M[i], S[i] = max(M[i], X[i, j]), S[i] * exp(M[i] - max) + exp(X[i, j] - max)
/// for i, j: Y[i, j] = exp(X[i, j] - M[i]) / S[i]
/// ```
/// Reductions are joined that are nests of their own in the root block, over equal domains, into results
/// that lie alike, if both load one element in each of their iterations, or compute one value of a function or
/// quotient, and no other block has to run
/// between them; blocks between that compute elements for the second one are inlined where they can be. The
/// second may use the result of the first where that is a maximum of x and the second a sum of products
/// one factor of which is exp(x - maximum); or where the second sums squared differences to a value made of
/// results, as the variance does to the mean. No sum around the first element is more than n + 1 times that:
/// ```
/// for i, j: S[i] += X[i, j]
/// for i, j: Q[i] += (X[i, j] - S[i] / n) * (X[i, j] - S[i] / n)
///   ->
/// for i: Q_first[i] = X[i, 0]
/// for i, j: S[i], Q_differences[i], Q_squares[i] += X[i, j], X[i, j] - Q_first[i], (X[i, j] - Q_first[i]) squared
/// for i: Q[i] = Q_squares[i] + d * (d * n - 2 * Q_differences[i]),   d = S[i] / n - Q_first[i]
/// ```
/// The new block has its reducer as annotation, and a maximum that scales sums
/// begins at the least finite number: that of nothing but minus infinities is this number.
/// @returns nothing where no two can be joined
std::optional<joined_reductions> join_reductions(const ir::function& f);

}  // namespace tilewright::primitive
