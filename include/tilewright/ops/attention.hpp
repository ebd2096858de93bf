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
  /// So many heads of queries, one behind the other, share a head of keys and values: grouped heads (Ainslie et al.,
  /// arXiv 2305.13245), or all of them at most (multi-query attention). K and V have B / group heads then.
  int group = 1;
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
/// Keys and values: a head for each of the queries', or for a group of these.
template <attention_options O, class T>
struct keys_and_values {
  using keys = in<"K", T, "B", "N", "D">;
  using values = in<"V", T, "B", "N", "E">;
};
template <attention_options O, class T>
requires(O.group > 1) struct keys_and_values<O, T> {
  using keys = in<"K", T, "H", "N", "D">;
  using values = in<"V", T, "H", "N", "E">;
};
template <attention_options O, class B>
constexpr auto shared_head(const B& b) {
  if constexpr (O.group > 1)
    return b / O.group;
  else
    return b;
}
template <attention_options O>
constexpr auto expects_heads() {
  static_assert(
      O.group >= 1,
      "tilewright: attention_options::group is the number of heads that share keys; write "
      "1 where none do");
  if constexpr (O.group > 1 && O.causal)
    return blocks(expects(extent<"B"> == extent<"H"> * O.group),
                  expects(extent<"N"> >= extent<"M">));
  else if constexpr (O.group > 1)
    return blocks(expects(extent<"B"> == extent<"H"> * O.group));
  else if constexpr (O.causal)
    return blocks(expects(extent<"N"> >= extent<"M">));
  else
    return blocks();
}
}  // namespace detail
/// @endcond

/// Y[b] = softmax(scale Q[b] K[b]^T) V[b], softmax over the N keys; b counts batches and heads. Sums are
/// computed in R. PyTorch's default scale is one over the root of D. Of a causal attention N is at
/// least M.
/// With a `group` of G heads K and V have the extents H x N x D and H x N x E, H being B / G, and Y[b] is computed with
/// K[b / G] and V[b / G]. Where a head has one query each, as in decoding, nothing is masked, and heads that share keys are
/// better given as rows of one head: Q as H x G x D, Y as H x G x E, without `group`, at the same addresses.
template <class T, class R = T, attention_options O = attention_options{}>
constexpr auto attention = kernel<"attention">([](in<"Q", T, "B", "M", "D"> Q,
                                                  typename detail::keys_and_values<O, T>::keys K,
                                                  typename detail::keys_and_values<O, T>::values V,
                                                  in<"scale", R> scale,
                                                  out<"Y", R, "B", "M", "E"> Y) {
  using axes::b, axes::i, axes::j, axes::k, axes::e;
  temp<"score", R, "B", "M", "N"> score;
  temp<"peak", R, "B", "M"> peak;
  temp<"share", R, "B", "M", "N"> share;
  temp<"total", R, "B", "M"> total;
  return blocks(detail::expects_heads<O>(),
                score(b, i, j) = scale * sum<k>(cast<R>(Q(b, i, k)) *
                                                cast<R>(K(detail::shared_head<O>(b), j, k))),
                peak(b, i) = max<j>(detail::visible<O, R>(score(b, i, j), i, j)),
                share(b, i, j) = exp(detail::visible<O, R>(score(b, i, j), i, j) - peak(b, i)),
                total(b, i) = sum<j>(share(b, i, j)),
                Y(b, i, e) = sum<j>(detail::weight<O, T, R>(share(b, i, j)) *
                                    cast<R>(V(detail::shared_head<O>(b), j, e))) /
                             total(b, i));
});

}  // namespace tilewright::ops
