// Ready-made operators, written with the front end alone.
//
// Each is a constexpr kernel with its options as template arguments, to be called through `tuned` or
// reified. T is the element type of the inputs, R that of the result, in which sums are computed.
// Extents that follow from others (the P and Q of a convolution) are taken from the output that is
// handed over and checked against the inputs.
#pragma once

#include <tilewright/expr/kernel.hpp>

namespace tilewright::ops {

/// One value per spatial dimension, outer first; one number stands for all.
struct sizes {
  int at[3];
  constexpr sizes(int all) : at{all, all, all} {}  // NOLINT
  constexpr sizes(int h, int w) : at{h, w, 1} {}
  constexpr sizes(int d, int h, int w) : at{d, h, w} {}
  constexpr int operator[](int k) const { return at[k]; }
};

/// Order of channels and space in images: N, space..., C or N, C, space...
enum class layout { channels_last, channels_first };

enum class activation { none, relu, sigmoid, tanh, silu, gelu };

/// The activation A of an expression.
template <activation A, class X>
constexpr auto activate(const X& x) {
  if constexpr (A == activation::relu) return max(x, 0);
  else if constexpr (A == activation::sigmoid) return sigmoid(x);
  else if constexpr (A == activation::tanh) return tanh(x);
  else if constexpr (A == activation::silu) return x * sigmoid(x);
  else if constexpr (A == activation::gelu)
    return x * 0.5 * (1.0 + erf(x * 0.70710678118654752440));
  else return +x;
}

}  // namespace tilewright::ops

#include <tilewright/ops/convolution.hpp>
#include <tilewright/ops/matrix.hpp>
#include <tilewright/ops/normalization.hpp>
#include <tilewright/ops/pooling.hpp>
#include <tilewright/ops/shape.hpp>
