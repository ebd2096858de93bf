// Stages of random programs: maps, reductions, products and views of tensors, each block in a nest of its own.
#pragma once

#include <laws/stages/stage_builder.hpp>

namespace laws::stages {

void elementwise(stage_builder& build, bool last);
/// Neighbours within the buffer.
void stencil(stage_builder& build, bool last);
void padding(stage_builder& build, bool last);
void row_reduction(stage_builder& build, bool last);
/// C[i, j] = sum over k of S[i, k] * A[k, j], or the transposed second operand.
void product(stage_builder& build, bool last);
void transpose(stage_builder& build, bool last);
void reverse(stage_builder& build, bool last);
void flatten(stage_builder& build, bool last);
void unflatten(stage_builder& build, bool last);
/// Two blocks write the two ends of one buffer.
void concat(stage_builder& build, bool last);
void in_place(stage_builder& build, bool last);
/// Pooling: to[i] = reduction of from[i * stride + r].
void window(stage_builder& build, bool last);
/// The place and the value of the largest element of each row; no two are equal.
void arg_peak(stage_builder& build, bool last);
/// The largest element of each row and how often it occurs, with the reducer as annotation.
void fold(stage_builder& build, bool last);
/// Sum over every dimension, or over the last ones.
void total(stage_builder& build, bool last);
/// C[b, i, j] = sum over k of X[b, i, k] * X[b, j, k].
void batched_product(stage_builder& build, bool last);
/// The last result plus an input of its own.
void bias(stage_builder& build, bool last);
void broadcast(stage_builder& build, bool last);
/// An index that comes from data; only for integers, which can be indices.
void gather(stage_builder& build, bool last);
/// A reduction and what is done to each of its results.
void epilogue(stage_builder& build, bool last);
/// Windows that overlap: to[i] = from[i] + from[i + 1] and perhaps more, of a result.
void blur(stage_builder& build, bool last);
/// Two stages over one domain that do not need each other.
void twins(stage_builder& build, bool last);
/// Products of inputs along a dimension that tiles of four mostly divide.
void dot(stage_builder& build, bool last);
/// Indices that are computed more than once in a store.
void strided(stage_builder& build, bool last);
/// Two stages below one loop: the second reads what the first writes, there or an iteration
/// before, or it overwrites what the first reads an iteration ahead.
void shared_loop(stage_builder& build, bool last);

}  // namespace laws::stages
