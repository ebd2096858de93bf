// Pooling over windows of an image.
#pragma once

#include <tilewright/ops/image.hpp>

namespace tilewright::ops {

/// Options of pooling.
struct pool_options {
  sizes window = 2;
  sizes stride = 2;
  sizes padding = 0;
  bool count_padding = false;  // average: divide by the whole window at the border
  layout order = layout::channels_last;
};

/// @cond
namespace detail {

template <pool_options O>
inline constexpr conv_options pool_window{O.stride, O.padding, 1, 1, O.order};

template <pool_options O>
constexpr auto expects_pooled() {
  static_assert(O.padding[0] < O.window[0] && O.padding[1] < O.window[1],
                "tilewright: the padding of a pooling window needs to be smaller than the window");
  return blocks(
      expects(extent<"P"> == (extent<"H"> + 2 * O.padding[0] - O.window[0]) / O.stride[0] + 1),
      expects(extent<"Q"> == (extent<"W"> + 2 * O.padding[1] - O.window[1]) / O.stride[1] + 1));
}

/// Rows of the window of output p that lie in the image.
template <class P, class E>
constexpr auto rows_inside(const P& p, std::int64_t window, std::int64_t stride,
                           std::int64_t padding, const E& rows) {
  const auto first = p * stride - padding;
  return min(first + window, rows) - max(first, 0);
}
template <fixed_string In, pool_options O, int K, class P>
constexpr auto rows_inside(const P& p) {
  return rows_inside(p, O.window[K], O.stride[K], O.padding[K], extent<In>);
}

}  // namespace detail
/// @endcond

/// Largest element of each window; the border does not take part.
template <class T, pool_options O = pool_options{}>
constexpr auto max_pool2d = kernel<"max_pool2d">(
    [](image<dsl::role::in, "X", T, O.order, named<"N">, named<"C">, named<"H">, named<"W">> X,
       image<dsl::role::out, "Y", T, O.order, named<"N">, named<"C">, named<"P">, named<"Q">> Y) {
      using axes::n, axes::p, axes::q, axes::c;
      constexpr axis<"r", O.window[0]> r;
      constexpr axis<"s", O.window[1]> s;
      // an index clamped to the edge names an element of the same window, since padding < window
      const auto padded = clamp_outside(X);
      return blocks(detail::expects_pooled<O>(),
                    image_at<O.order>(Y, n, c, p, q) = max<r, s>(
                        image_at<O.order>(padded, n, c, window_at<detail::pool_window<O>, 0>(p, r),
                                          window_at<detail::pool_window<O>, 1>(q, s))));
    });

/// Mean of each window; at the border over the elements inside, or with `count_padding` over all.
template <class T, pool_options O = pool_options{}>
constexpr auto avg_pool2d = kernel<"avg_pool2d">(
    [](image<dsl::role::in, "X", T, O.order, named<"N">, named<"C">, named<"H">, named<"W">> X,
       image<dsl::role::out, "Y", T, O.order, named<"N">, named<"C">, named<"P">, named<"Q">> Y) {
      using axes::n, axes::p, axes::q, axes::c;
      constexpr axis<"r", O.window[0]> r;
      constexpr axis<"s", O.window[1]> s;
      const auto padded = zero_outside(X);
      const auto total =
          sum<r, s>(image_at<O.order>(padded, n, c, window_at<detail::pool_window<O>, 0>(p, r),
                                      window_at<detail::pool_window<O>, 1>(q, s)));
      const auto count = [&] {
        if constexpr (O.count_padding || (O.padding[0] == 0 && O.padding[1] == 0))
          return O.window[0] * O.window[1];
        else
          return cast<T>(detail::rows_inside<"H", O, 0>(p) * detail::rows_inside<"W", O, 1>(q));
      };
      return blocks(detail::expects_pooled<O>(),
                    image_at<O.order>(Y, n, c, p, q) = total / count());
    });

/// Mean over the whole image, per channel.
template <class T, layout L = layout::channels_last>
constexpr auto global_avg_pool2d = kernel<"global_avg_pool2d">(
    [](image<dsl::role::in, "X", T, L, named<"N">, named<"C">, named<"H">, named<"W">> X,
       out<"Y", T, "N", "C"> Y) {
      using axes::n, axes::c, axes::h, axes::w;
      return Y(n, c) = sum<h, w>(image_at<L>(X, n, c, h, w)) / cast<T>(extent<"H"> * extent<"W">);
    });

}  // namespace tilewright::ops
