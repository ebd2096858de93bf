// Products of matrices.
#pragma once

#include <tilewright/ops/image.hpp>

namespace tilewright::ops {

/// How the operands of a product are handed over.
struct matmul_options {
  bool transpose_a = false;
  bool transpose_b = false;
  bool weight_b = false;  // the second operand is a weight, which may be bound: op.with<"B">(b)
};

/// @cond
namespace detail {
template <bool Transposed, class A, class I, class J>
constexpr auto matrix_at(const A& a, const I& i, const J& j) {
  if constexpr (Transposed)
    return a(j, i);
  else
    return a(i, j);
}

/// The second operand, K x N or N x K behind `Batch`.
template <fixed_string Name, class T, matmul_options O, class... Batch>
using second_operand = shaped<O.weight_b ? dsl::role::weight : dsl::role::in, Name, T, Batch...,
                              named_if<O.transpose_b, "N", "K">, named_if<O.transpose_b, "K", "N">>;
}  // namespace detail
/// @endcond

/// C = A B, sums in R.
template <class T, class R = T, matmul_options O = matmul_options{}>
constexpr auto matmul =
    kernel<"matmul">([](shaped<dsl::role::in, "A", T, named_if<O.transpose_a, "K", "M">,
                               named_if<O.transpose_a, "M", "K">>
                            A,
                        detail::second_operand<"B", T, O> B, out<"C", R, "M", "N"> C) {
      using axes::i, axes::j, axes::k;
      return C(i, j) = sum<k>(cast<R>(detail::matrix_at<O.transpose_a>(A, i, k)) *
                              cast<R>(detail::matrix_at<O.transpose_b>(B, k, j)));
    });

/// C = alpha A B + beta C.
template <class T, class R = T, matmul_options O = matmul_options{}>
constexpr auto gemm = kernel<"gemm">(
    [](in<"alpha", R> alpha,
       shaped<dsl::role::in, "A", T, named_if<O.transpose_a, "K", "M">,
              named_if<O.transpose_a, "M", "K">>
           A,
       detail::second_operand<"B", T, O> B, in<"beta", R> beta, inout<"C", R, "M", "N"> C) {
      using axes::i, axes::j, axes::k;
      return C(i, j) = alpha * sum<k>(cast<R>(detail::matrix_at<O.transpose_a>(A, i, k)) *
                                      cast<R>(detail::matrix_at<O.transpose_b>(B, k, j))) +
                       beta * C(i, j);
    });

/// y = A x.
template <class T, class R = T>
constexpr auto matvec = kernel<"matvec">([](in<"A", T, "M", "K"> A, in<"x", T, "K"> x,
                                            out<"y", R, "M"> y) {
  using axes::i, axes::k;
  return y(i) = sum<k>(cast<R>(A(i, k)) * cast<R>(x(k)));
});

/// C[b] = X[b] Y[b].
template <class T, class R = T, matmul_options O = matmul_options{}>
constexpr auto batch_matmul = kernel<"batch_matmul">(
    [](shaped<dsl::role::in, "X", T, named<"B">, named_if<O.transpose_a, "K", "M">,
              named_if<O.transpose_a, "M", "K">>
           X,
       detail::second_operand<"Y", T, O, named<"B">> Y, out<"C", R, "B", "M", "N"> C) {
      using axes::b, axes::i, axes::j, axes::k;
      const auto left = [&] {
        if constexpr (O.transpose_a)
          return X(b, k, i);
        else
          return X(b, i, k);
      };
      const auto right = [&] {
        if constexpr (O.transpose_b)
          return Y(b, j, k);
        else
          return Y(b, k, j);
      };
      return C(b, i, j) = sum<k>(cast<R>(left()) * cast<R>(right()));
    });

/// Y = activation(X W + bias).
template <class T, class R = T, activation A = activation::none>
constexpr auto dense = kernel<"dense">([](in<"X", T, "M", "K"> X, weight<"W", T, "K", "N"> W,
                                          weight<"bias", R, "N"> bias, out<"Y", R, "M", "N"> Y) {
  using axes::i, axes::j, axes::k;
  return Y(i, j) = activate<A>(sum<k>(cast<R>(X(i, k)) * cast<R>(W(k, j))) + bias(j));
});

}  // namespace tilewright::ops
