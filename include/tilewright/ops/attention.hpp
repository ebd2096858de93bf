// Attention: softmax of scaled products of queries and keys, as weights of values.
#pragma once

#include <limits>

#include <tilewright/ops/normalization.hpp>

namespace tilewright::ops {

struct attention_options {
  /// The query in row i sees the keys up to column i + N - M: the last query sees all of them.
  bool causal = false;
  /// Weights are rounded to the elements' type before values are weighed by them, as FlashAttention-2 does it:
  /// tensor cores of a GPU multiply no others. The sum that they are divided by is not.
  bool rounded_weights = false;
};

/// @cond
namespace detail {
template <attention_options O, class T, class S, class I, class J>
constexpr auto visible(const S& score, const I& i, const J& j) {
  if constexpr (O.causal)
    return select(j <= i + (extent<"N"> - extent<"M">), score, std::numeric_limits<T>::lowest());
  else
    return score;
}
template <attention_options O, class T, class R, class S>
constexpr auto weight(const S& share) {
  if constexpr (O.rounded_weights)
    return cast<R>(cast<T>(share));
  else
    return share;
}
}  // namespace detail
/// @endcond

/// Y[b] = softmax(scale Q[b] K[b]^T) V[b], softmax over the N keys; b counts batches and heads. Sums are
/// computed in R. PyTorch's default scale is one over the root of D. Of a causal attention N is at
/// least M.
template <class T, class R = T, attention_options O = attention_options{}>
constexpr auto attention = kernel<"attention">([](in<"Q", T, "B", "M", "D"> Q,
                                                  in<"K", T, "B", "N", "D"> K,
                                                  in<"V", T, "B", "N", "E"> V, in<"scale", R> scale,
                                                  out<"Y", R, "B", "M", "E"> Y) {
  using axes::b, axes::i, axes::j, axes::k, axes::e;
  temp<"score", R, "B", "M", "N"> score;
  temp<"peak", R, "B", "M"> peak;
  temp<"share", R, "B", "M", "N"> share;
  temp<"total", R, "B", "M"> total;
  const auto expects_keys = [] {
    if constexpr (O.causal)
      return blocks(expects(extent<"N"> >= extent<"M">));
    else
      return blocks();
  };
  return blocks(expects_keys(),
                score(b, i, j) = scale * sum<k>(cast<R>(Q(b, i, k)) * cast<R>(K(b, j, k))),
                peak(b, i) = max<j>(detail::visible<O, R>(score(b, i, j), i, j)),
                share(b, i, j) = exp(detail::visible<O, R>(score(b, i, j), i, j) - peak(b, i)),
                total(b, i) = sum<j>(share(b, i, j)),
                Y(b, i, e) = sum<j>(detail::weight<O, T, R>(share(b, i, j)) * cast<R>(V(b, j, e))) /
                             total(b, i));
});

}  // namespace tilewright::ops
