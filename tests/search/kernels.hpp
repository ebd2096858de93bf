// Small kernels that the tests of the room share.
#pragma once

#include <tilewright/expr/kernel.hpp>
#include <tilewright/expr/reify.hpp>

namespace kernels {

using namespace tilewright;

inline constexpr auto matmul_relu = kernel<"matmul_relu">(
    [](in<"A", float, "M", "K"> A, in<"B", float, "K", "N"> B, out<"C", float, "M", "N"> C) {
      using axes::i, axes::j, axes::k;
      return C(i, j) = max(sum<k>(A(i, k) * B(k, j)), 0.0f);
    });

inline constexpr auto gather = kernel<"gather">(
    [](in<"X", float, "N", "C"> X, in<"I", std::int32_t, "M"> I, out<"Y", float, "M", "C"> Y) {
      using axes::i, axes::c;
      return Y(i, c) = X(I(i) * 2 + 1, c);
    });

inline constexpr auto window =
    kernel<"window">([](in<"X", float, "W"> X, in<"F", float, "S"> F, out<"Y", float, "Q"> Y) {
      using axes::q, axes::s;
      return Y(q) = sum<s>(X(q + s) * F(s));
    });

inline constexpr auto square_root =
    kernel<"square_root">([](in<"X", float, "N"> X, out<"Y", float, "N"> Y) {
      using axes::i;
      return Y(i) = sqrt(X(i));
    });

inline constexpr auto count_up = kernel<"count_up">([](inout<"Y", float, "N"> Y) {
  using axes::i;
  return Y(i) = Y(i) + 1.0f;
});

}  // namespace kernels
