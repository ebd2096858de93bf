// Products of matrices.
#pragma once

#include <tilewright/ops/image.hpp>

namespace tilewright::ops {

/// Which operands of a product are handed over transposed.
struct matmul_options {
  bool transpose_a = false;
  bool transpose_b = false;
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
}  // namespace detail
/// @endcond

/// C = A B, sums in R.
template <class T, class R = T, matmul_options O = matmul_options{}>
constexpr auto matmul =
    kernel<"matmul">([](shaped<dsl::role::in, "A", T, named_if<O.transpose_a, "K", "M">,
                               named_if<O.transpose_a, "M", "K">>
                            A,
                        shaped<dsl::role::in, "B", T, named_if<O.transpose_b, "N", "K">,
                               named_if<O.transpose_b, "K", "N">>
                            B,
                        out<"C", R, "M", "N"> C) {
      using axes::i, axes::j, axes::k;
      return C(i, j) = sum<k>(cast<R>(detail::matrix_at<O.transpose_a>(A, i, k)) *
                              cast<R>(detail::matrix_at<O.transpose_b>(B, k, j)));
    });

/// C = alpha A B + beta C.
template <class T, class R = T>
constexpr auto gemm = kernel<"gemm">([](in<"alpha", R> alpha, in<"A", T, "M", "K"> A,
                                        in<"B", T, "K", "N"> B, in<"beta", R> beta,
                                        inout<"C", R, "M", "N"> C) {
  using axes::i, axes::j, axes::k;
  return C(i, j) = alpha * sum<k>(cast<R>(A(i, k)) * cast<R>(B(k, j))) + beta * C(i, j);
});

/// y = A x.
template <class T, class R = T>
constexpr auto matvec = kernel<"matvec">([](in<"A", T, "M", "K"> A, in<"x", T, "K"> x,
                                            out<"y", R, "M"> y) {
  using axes::i, axes::k;
  return y(i) = sum<k>(cast<R>(A(i, k)) * cast<R>(x(k)));
});

/// C[b] = A[b] B[b].
template <class T, class R = T, matmul_options O = matmul_options{}>
constexpr auto batch_matmul = kernel<"batch_matmul">(
    [](shaped<dsl::role::in, "X", T, named<"B">, named_if<O.transpose_a, "K", "M">,
              named_if<O.transpose_a, "M", "K">>
           X,
       shaped<dsl::role::in, "Y", T, named<"B">, named_if<O.transpose_b, "N", "K">,
              named_if<O.transpose_b, "K", "N">>
           Y,
       out<"C", R, "B", "M", "N"> C) {
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
