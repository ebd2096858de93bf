// Kernels that compute at the elements of a pattern, in any format: a sampled product, and attention.
#pragma once

#include <tilewright/expr/kernel.hpp>

namespace sampled_kernels {

using namespace tilewright;

inline constexpr dim on_a = stored_like<"N", "A">;

template <dim Columns>
constexpr auto sampled = kernel<"sampled">([](in<"A", float, "M", Columns> A,
                                              in<"X", float, "M", "K"> X,
                                              in<"Y", float, "N", "K"> Y,
                                              out<"S", float, "M", on_a> S) {
  using axes::i, axes::j, axes::k;
  return S(i, j) = A(i, j) * sum<k>(X(i, k) * Y(j, k));
});

/// Products with the exponentials of a sampled product, less the largest of its row, divided by their sum.
template <dim Columns>
constexpr auto attention = kernel<"attention">(
    [](in<"A", float, "M", Columns> A, in<"X", float, "M", "K"> X, in<"Y", float, "N", "K"> Y,
       in<"V", float, "N", "D"> V, out<"O", float, "M", "D"> O) {
      using axes::i, axes::j, axes::k, axes::d;
      temp<"s", float, "M", on_a> s;
      temp<"e", float, "M", on_a> e;
      temp<"peak", float, "M"> peak;
      temp<"total", float, "M"> total;
      return blocks(s(i, j) = A(i, j) * sum<k>(X(i, k) * Y(j, k)),
                    peak(i) = max<j>(where_stored(s)(i, j)), e(i, j) = exp(s(i, j) - peak(i)),
                    total(i) = sum<j>(e(i, j)),
                    O(i, d) = sum<j>(e(i, j) * V(j, d)) / max(total(i), 1e-30f));
    });

}  // namespace sampled_kernels
