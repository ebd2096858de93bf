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
/// of nothing but minus infinities is the least finite number then.
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
///    in their results, and the second does not need what the first makes, unless that is the maximum of x, and it sums products with a factor exp(x - maximum).
/// @throws schedule_error
ir::function work_on(const ir::function& f, const std::string& func_name);

}  // namespace tilewright::primitive
