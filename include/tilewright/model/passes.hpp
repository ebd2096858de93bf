// Passes from graph to graph. Each leaves what the graph computes as it is; network::interpret
// before and after is the test.
#pragma once

#include <vector>

#include <tilewright/model/graph.hpp>

namespace tilewright::network {

/// Leaves out nodes whose outputs nobody reads, and constants that nobody needs.
void remove_unused(graph& g);

/// One node for several that compute the same from the same values:
/// ```
/// a = Tanh(x); b = Tanh(x); y = Add(a, b)   ->   a = Tanh(x); y = Add(a, a)
/// ```
/// Copies (transpose, slice, ...) stay, since each reader may take in its own, and what the outside wants.
void remove_repeated(graph& g);

/// Computes nodes of which all inputs are constants, and takes batch normalization behind a
/// convolution into its weights:
/// ```
/// y = BatchNormalization(Conv(x, W), s, b, m, v)   ->   y = Conv(x, W', b')
/// ```
void fold_constants(graph& g);

/// Channels last through the whole graph: convolutions, poolings and normalizations read and write
/// images as N, space..., C, and so does everything elementwise between them; filters become
/// space..., C, K. A transposition stays only where the outside, or another operator, asks for
/// channels first.
void channels_last(graph& g);

/// The guard that exporters put behind softmax, for rows that are masked as a whole, as one node:
/// ```
/// n = IsNaN(x); y = Where(n, c, x)   ->   y = ReplaceNaN(x, c)
/// ```
void replace_nan(graph& g);

/// Factors stand behind products, where they are a part of the kernel, and attention is found:
/// ```
/// a = Mul(x, 2); b = Div(y, 4); p = MatMul(a, b)   ->   q = MatMul(x, y); p = Mul(q, 0.5)
/// ```
/// Only in f32 and f64, whose products do not overflow without their factors.
void scale_products(graph& g);

/// What a network computes in f16 becomes f32 between its inputs and outputs, which keep their types:
/// ```
/// y = Relu(x)   ->   a = Cast(x, f32); b = Relu(a); y = Cast(b, f16)
/// ```
/// A CPU multiplies and adds f32 whatever the graph says: elements of f16 are converted for each use and rounded when they
/// are stored. The graph stays as it is where most weights are read for 16 rows or fewer, since they come from memory then
/// and are half as many bytes in f16; where values of f32 are rounded to f16 for readers of f32 alone, on purpose; and where
/// an operator takes f16 alone. Types are known, and are known afterwards.
void widen_halves(graph& g);

/// Both products of attention and what lies between them (scale, mask, softmax, its guard, ...) as
/// one node, which holds them as its body:
/// ```
/// s = MatMul(q, k); m = Add(s, mask); p = Softmax(m); y = MatMul(p, v)
///   ->   y = Attention(q, k, mask, v) body={...}
/// ```
void group_attention(graph& g);

/// One wide product for several that share an input and whose other sides are constants; a bias and an
/// activation that all have come in front of the parts:
/// ```
/// a = MatMul(x, V); b = MatMul(x, W)   ->   y = MatMul(x, [V W]); a = Slice(y); b = Slice(y)
/// ```
/// The same for convolutions with equal windows (after channels_last) and Gemm. What Concat or the
/// outside reads stays, since it would have to be copied.
void join_products(graph& g);

/// One node for an anchor (a convolution, product, pooling, reduction or normalization) and the
/// elementwise operators behind it, and for chains of elementwise operators with the softmax or
/// normalization of rows behind them. Copies (transpose,
/// slice, expand, ...) that one product or elementwise operator reads become indices of its kernel,
/// and a transposition of a product becomes where it writes. The node holds them as its body, a
/// graph, and is named after the first one.
/// ```
/// c = Conv(x, W, b); a = Add(c, r); y = Relu(a)   ->   y = Conv_Add_Relu(x, W, b, r) body={...}
/// ```
void fuse(graph& g);

/// Parts without copies. What Concat joins is written to where it stands in the result, and what a
/// Slice names is read where it lies, unless a kernel took it in:
/// ```
/// a = Conv(x, V); b = Relu(x); y = Concat(a, b)   ->   a = Conv(x, V); b = Relu(x); y = Join(a, b)
/// b = Slice(a); y = MatMul(b, b)                  ->   b = Part(a); y = MatMul(b, b)
/// ```
/// Join and Part are no kernels: they say where their values lie (model/memory_view.hpp). A part
/// that cannot be written in place, since it is an input or lies in another result, is copied.
void place_parts(graph& g);

/// All passes in their order but group_attention and join_products.
void optimize(graph& g);

/// The passes before kernels are made: what `optimize` begins with, and the same graph with attention as
/// one node, wide products for those that share an input, or both, where there are any.
std::vector<graph> forms_of(graph g);

/// The passes that end `optimize`: fuse, place_parts, remove_unused.
/// @param parts_in_place false: without place_parts, for machines whose kernels take dense arrays alone
void make_kernels(graph& g, bool parts_in_place = true);

/// Outputs that are an input, a constant, another output, or a view of one of these, as what a kernel
/// writes:
/// ```
/// y = x   ->   y = Copy(x)
/// ```
void write_outputs(graph& g);

/// The same graph in other kernels: that of `optimize`, and with attention as one kernel, wide products
/// for those that share an input, or both, where there are any. Which of them is fastest is measured,
/// not believed.
std::vector<graph> alternatives_of(graph g);

}  // namespace tilewright::network
