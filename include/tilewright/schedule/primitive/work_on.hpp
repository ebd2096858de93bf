// work_on: which of several algorithms is scheduled.
#pragma once

#include <string>

#include <tilewright/ir/stmt.hpp>

namespace tilewright::primitive {

/// Goes on with one of the algorithms that the function carries (ir/alternatives.hpp), which may be
/// itself; the others are dropped. It keeps the function's name, so that code for either is called
/// alike.
/// ```
/// direct(X, F, Y), beside it gemm(X, F, Y)   ->   the body of gemm
/// ```
/// A function without others is worked on whatever it is called. `name.joined` is the algorithm of that
/// name with reductions over one domain joined in one: `S[i] += exp(X[i, j] - M[i])` behind the maximum
/// M[i] of X[i, j] becomes a reduction of both at once, which scales the sum as the maximum grows. That
/// of nothing but minus infinities is the least finite number then. A sum of (x - c)^2, c made of such
/// results, becomes sums around the first x. `name.parts_64` is the algorithm with a cascade of
/// reductions computed in parts of 64 along their axis: attention has the maximum of 64 scores, exponentials
/// relative to it, their sum and the values that they weigh, and combines these with what the parts
/// before have. `name.running_32_64` is the algorithm with such a cascade in one block, an instance of which adds a
/// part of 64 to the results of 32 rows, in these results themselves; its blocks are scheduled inside of it. Where such a
/// part has nothing but least numbers, as a causal mask leaves them (`select(j <= i, x, lowest)`), the instance does nothing.
/// `name.padded_32_64` is the algorithm with the rows of such a cascade padded to a multiple of 32, and its axis to one of 64.
/// `name.factored` is the algorithm with sums of products and quotients taken apart along axes that some factors do
/// not move along: x[r] P[r, s] z[s] is summed over s first, without x[r], and over r then.
/// `name.scans` is the algorithm with reductions over what stands before an element as scans: Y[i], the sum of X[j] with
/// j <= i, is Y[i - 1] + X[i].
/// A function without others is worked on whatever it is called. Where the root is annotated with numbers
/// (ir::sizes_attribute), as those of a format that were drawn, the algorithm's name ends with them:
/// ```
/// v0 = sch.sample_categorical(candidates=[4, 8, 16], probs=[1, 1, 1], decision=2)
/// b1 = sch.get_block(name="root", func_name="main")
/// sch.annotate(block_or_loop=b1, ann_key="tilewright.sizes", ann_val=[v0])
/// sch.work_on(func_name="layer_in_bsr")   ->   the body of layer_in_bsr_16
/// ```
///
/// Requires:
/// 1. an algorithm has the name;
/// 2. where the joined form of one is asked for, two of its reductions are nests of their own over equal domains,
///    load one element in each iteration, or compute one value of a function or quotient there, lie alike
///    in their results, and the second does not need what the first makes, unless that is the maximum of x, and it sums products with a factor exp(x - maximum), or it
///    sums squared differences to a value made of what others make;
/// 3. where a form in parts is asked for, a cascade of its reductions can be cut in parts of that length: these are
///    nests of their own, each over one axis of the same extent, which the length divides; the first is a maximum, each
///    later one needs it alone of them and sums products with a factor exp(x - m), m being that maximum of x, or needs
///    none of them; elements that are computed for them along the axis are needed by nobody else; at most one has
///    results along more axes than the maximum, and the others are then no parameters of the function;
/// 4. where the factored form of one is asked for, a sum of products or quotients of numbers of at least 32 bits that is a nest of its own, over
///    axes of literal extents, takes at most two thirds of the multiplications when some of its axes are summed first;
/// 5. where a running form is asked for, the cascade is as for one in parts, the number of rows divides the extent of
///    the last axis of the maximum and the length that of the reductions; elements that are computed along the axis need
///    the maximum themselves and have no other axes, and all reductions but the widest lie as the maximum does;
/// 6. where the scans of one are asked for, a reduction that is a nest of its own combines an element only where a condition holds
///    such as j <= i, j < i or j >= i, with a literal number added, i being a variable of the results; each result has one term more
///    than its neighbour, the first one or none; nothing else of an element depends on i. Sums and products of floats narrower than
///    float32 are none, and where a function keeps the order of terms, only those are that rise with i;
/// 7. where a padded form is asked for, rows and axis of the cascade have literal extents, what it makes is no parameter of the
///    function, operands are read at their rows and places of the axis alone, and what its sums weigh is made of them by sums, products and casts.
/// @throws schedule_error
ir::function work_on(const ir::function& f, const std::string& func_name);

}  // namespace tilewright::primitive
