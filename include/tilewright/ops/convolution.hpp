// Convolutions over one to three dimensions, depthwise, and transposed.
#pragma once

#include <tilewright/ops/image.hpp>

namespace tilewright::ops {

/// @cond
namespace detail {

/// Channels of the input: those of the filter, or `groups` times as many.
template <conv_options O>
using input_channels = named_if<O.groups == 1, "C", "CI">;

/// Input channel of channel c in the group of output channel k, which has `outputs` channels made
/// from `inputs`.
template <class K, class C, class Outputs, class Inputs>
constexpr auto channel_in_group(const K& k, const C& c, const Outputs& outputs,
                                const Inputs& inputs) {
  return k / outputs * inputs + c;
}
template <conv_options O, class K, class C>
constexpr auto group_channel(const K& k, const C& c) {
  if constexpr (O.groups == 1)
    return c;
  else
    return channel_in_group(k, c, extent<"K"> / O.groups, extent<"C">);
}

/// Conditions on the channels.
template <conv_options O>
constexpr auto expects_groups() {
  if constexpr (O.groups == 1)
    return blocks();
  else
    return blocks(expects(extent<"CI"> == O.groups * extent<"C">),
                  expects(extent<"K"> % O.groups == 0));
}

/// @name Sums over windows and channels, for kernels of types and those built at run time
/// `to` converts to the type of the sum, `channel` is the channel of the input, and the places are
/// those of the windows, all in terms of the reduced axes t, r, s and c.
/// @{
template <layout L, class To, class X, class F, class N, class K, class C, class W>
constexpr auto conv1d_sum(To to, const X& padded, const F& f, const N& n, const K& k,
                          const C& channel, const W& w) {
  using axes::s, axes::c;
  return sum<s, c>(to(image_at<L>(padded, n, channel, w)) * to(filter_at<L>(f, c, k, s)));
}
template <layout L, class To, class X, class F, class N, class K, class C, class H, class W>
constexpr auto conv2d_sum(To to, const X& padded, const F& f, const N& n, const K& k,
                          const C& channel, const H& h, const W& w) {
  using axes::r, axes::s, axes::c;
  return sum<r, s, c>(to(image_at<L>(padded, n, channel, h, w)) * to(filter_at<L>(f, c, k, r, s)));
}
template <layout L, class To, class X, class F, class N, class K, class C, class D, class H,
          class W>
constexpr auto conv3d_sum(To to, const X& padded, const F& f, const N& n, const K& k,
                          const C& channel, const D& d, const H& h, const W& w) {
  using axes::t, axes::r, axes::s, axes::c;
  return sum<t, r, s, c>(to(image_at<L>(padded, n, channel, d, h, w)) *
                         to(filter_at<L>(f, c, k, t, r, s)));
}
/// One filter per channel; `filter` is its element for c, r and s.
template <layout L, class To, class X, class F, class N, class C, class H, class W>
constexpr auto depthwise_sum(To to, const X& padded, const F& filter_element, const N& n,
                             const C& c, const H& h, const W& w) {
  using axes::r, axes::s;
  return sum<r, s>(to(image_at<L>(padded, n, c, h, w)) * to(filter_element));
}
/// @}

template <class R, conv_options O, class X, class F>
constexpr auto conv1d_value(X x, F f) {
  using axes::n, axes::q, axes::k, axes::s, axes::c;
  return conv1d_sum<O.order>(cast_to<R>{}, zero_outside(x), f, n, k, group_channel<O>(k, c),
                             window_at<O, 0>(q, s));
}

template <class R, conv_options O, class X, class F>
constexpr auto conv2d_value(X x, F f) {
  using axes::n, axes::p, axes::q, axes::k, axes::r, axes::s, axes::c;
  return conv2d_sum<O.order>(cast_to<R>{}, zero_outside(x), f, n, k, group_channel<O>(k, c),
                             window_at<O, 0>(p, r), window_at<O, 1>(q, s));
}

template <class R, conv_options O, class X, class F>
constexpr auto conv3d_value(X x, F f) {
  using axes::n, axes::o, axes::p, axes::q, axes::k, axes::t, axes::r, axes::s, axes::c;
  return conv3d_sum<O.order>(cast_to<R>{}, zero_outside(x), f, n, k, group_channel<O>(k, c),
                             window_at<O, 0>(o, t), window_at<O, 1>(p, r), window_at<O, 2>(q, s));
}

}  // namespace detail
/// @endcond

/// Y[n, q, k] = sum over s, c of X[n, q * stride + s * dilation - padding, c] * F[s, c, k]; zero
/// outside.
template <class T, class R = T, conv_options O = conv_options{}>
constexpr auto conv1d = kernel<"conv1d">(
    [](image<dsl::role::in, "X", T, O.order, named<"N">, detail::input_channels<O>, named<"W">> X,
       filter<"F", T, O.order, named<"C">, named<"K">, named<"S">> F,
       image<dsl::role::out, "Y", R, O.order, named<"N">, named<"K">, named<"Q">> Y) {
      using axes::n, axes::q, axes::k;
      return blocks(expects_windows<"Q", "W", "S", O, 0>(), detail::expects_groups<O>(),
                    image_at<O.order>(Y, n, k, q) = detail::conv1d_value<R, O>(X, F));
    });

/// Y[n, p, q, k] = sum over r, s, c of X[n, p * stride + r * dilation - padding, ..., c] * F[r, s,
/// c, k].
template <class T, class R = T, conv_options O = conv_options{}>
constexpr auto conv2d = kernel<"conv2d">(
    [](image<dsl::role::in, "X", T, O.order, named<"N">, detail::input_channels<O>, named<"H">,
             named<"W">>
           X,
       filter<"F", T, O.order, named<"C">, named<"K">, named<"R">, named<"S">> F,
       image<dsl::role::out, "Y", R, O.order, named<"N">, named<"K">, named<"P">, named<"Q">> Y) {
      using axes::n, axes::p, axes::q, axes::k;
      return blocks(expects_windows<"P", "H", "R", O, 0>(), expects_windows<"Q", "W", "S", O, 1>(),
                    detail::expects_groups<O>(),
                    image_at<O.order>(Y, n, k, p, q) = detail::conv2d_value<R, O>(X, F));
    });

/// conv2d, then a bias per output channel and an activation.
template <class T, class R = T, conv_options O = conv_options{}, activation A = activation::none>
constexpr auto conv2d_bias = kernel<"conv2d_bias">(
    [](image<dsl::role::in, "X", T, O.order, named<"N">, detail::input_channels<O>, named<"H">,
             named<"W">>
           X,
       filter<"F", T, O.order, named<"C">, named<"K">, named<"R">, named<"S">> F,
       weight<"bias", R, "K"> bias,
       image<dsl::role::out, "Y", R, O.order, named<"N">, named<"K">, named<"P">, named<"Q">> Y) {
      using axes::n, axes::p, axes::q, axes::k;
      return blocks(expects_windows<"P", "H", "R", O, 0>(), expects_windows<"Q", "W", "S", O, 1>(),
                    detail::expects_groups<O>(),
                    image_at<O.order>(Y, n, k, p, q) =
                        activate<A>(detail::conv2d_value<R, O>(X, F) + bias(k)));
    });

/// conv2d, then a factor and an offset per output channel, which is what batch normalization folds
/// into, and an activation.
template <class T, class R = T, conv_options O = conv_options{}, activation A = activation::none>
constexpr auto conv2d_scale_shift = kernel<"conv2d_scale_shift">(
    [](image<dsl::role::in, "X", T, O.order, named<"N">, detail::input_channels<O>, named<"H">,
             named<"W">>
           X,
       filter<"F", T, O.order, named<"C">, named<"K">, named<"R">, named<"S">> F,
       weight<"scale", R, "K"> scale, weight<"shift", R, "K"> shift,
       image<dsl::role::out, "Y", R, O.order, named<"N">, named<"K">, named<"P">, named<"Q">> Y) {
      using axes::n, axes::p, axes::q, axes::k;
      return blocks(expects_windows<"P", "H", "R", O, 0>(), expects_windows<"Q", "W", "S", O, 1>(),
                    detail::expects_groups<O>(),
                    image_at<O.order>(Y, n, k, p, q) =
                        activate<A>(detail::conv2d_value<R, O>(X, F) * scale(k) + shift(k)));
    });

/// conv2d with one dimension more: X[n, d, h, w, c], F[t, r, s, c, k], Y[n, o, p, q, k].
template <class T, class R = T, conv_options O = conv_options{}>
constexpr auto conv3d = kernel<"conv3d">(
    [](image<dsl::role::in, "X", T, O.order, named<"N">, detail::input_channels<O>, named<"D">,
             named<"H">, named<"W">>
           X,
       filter<"F", T, O.order, named<"C">, named<"K">, named<"T">, named<"R">, named<"S">> F,
       image<dsl::role::out, "Y", R, O.order, named<"N">, named<"K">, named<"O">, named<"P">,
             named<"Q">>
           Y) {
      using axes::n, axes::o, axes::p, axes::q, axes::k;
      return blocks(expects_windows<"O", "D", "T", O, 0>(), expects_windows<"P", "H", "R", O, 1>(),
                    expects_windows<"Q", "W", "S", O, 2>(), detail::expects_groups<O>(),
                    image_at<O.order>(Y, n, k, o, p, q) = detail::conv3d_value<R, O>(X, F));
    });

/// One filter per channel: F[r, s, c] or F[c, r, s].
template <class T, class R = T, conv_options O = conv_options{}>
constexpr auto depthwise_conv2d = kernel<"depthwise_conv2d">(
    [](image<dsl::role::in, "X", T, O.order, named<"N">, named<"C">, named<"H">, named<"W">> X,
       shaped<dsl::role::weight, "F", T, named_if<O.order == layout::channels_last, "R", "C">,
              named_if<O.order == layout::channels_last, "S", "R">,
              named_if<O.order == layout::channels_last, "C", "S">>
           F,
       image<dsl::role::out, "Y", R, O.order, named<"N">, named<"C">, named<"P">, named<"Q">> Y) {
      using axes::n, axes::p, axes::q, axes::c, axes::r, axes::s;
      static_assert(O.groups == 1, "tilewright: a depthwise convolution has no groups option");
      const auto filter_value = [&] {
        if constexpr (O.order == layout::channels_last)
          return F(r, s, c);
        else
          return F(c, r, s);
      };
      return blocks(expects_windows<"P", "H", "R", O, 0>(), expects_windows<"Q", "W", "S", O, 1>(),
                    image_at<O.order>(Y, n, c, p, q) = detail::depthwise_sum<O.order>(
                        cast_to<R>{}, zero_outside(X), filter_value(), n, c, window_at<O, 0>(p, r),
                        window_at<O, 1>(q, s)));
    });

/// Order of the filter of a transposed convolution.
enum class filter_order {
  of_layout,   // that of the other convolutions: R, S, C, K or K, C, R, S
  input_first  // C, K, R, S, as PyTorch's ConvTranspose2d has it, in either layout of images
};

/// @cond
namespace detail {

template <class T, layout L, filter_order F>
using transposed_filter = std::conditional_t<
    F == filter_order::input_first,
    shaped<dsl::role::weight, "F", T, named<"C">, named<"K">, named<"R">, named<"S">>,
    filter<"F", T, L, named<"C">, named<"K">, named<"R">, named<"S">>>;

template <layout L, filter_order Order, class F, class C, class K, class R, class S>
constexpr auto transposed_filter_at(const F& f, const C& c, const K& k, const R& r, const S& s) {
  if constexpr (Order == filter_order::input_first)
    return f(c, k, r, s);
  else
    return filter_at<L>(f, c, k, r, s);
}

}  // namespace detail
/// @endcond

/// Gradient of conv2d to its input: Y[n, p, q, k] sums X[n, h, w, c] * F[r, s, c, k] over all with
/// h * stride + r * dilation - padding == p. The output may be up to stride - 1 larger than the
/// least.
template <class T, class R = T, conv_options O = conv_options{},
          filter_order Filter = filter_order::of_layout>
constexpr auto conv2d_transposed = kernel<"conv2d_transposed">(
    [](image<dsl::role::in, "X", T, O.order, named<"N">, named<"C">, named<"H">, named<"W">> X,
       detail::transposed_filter<T, O.order, Filter> F,
       image<dsl::role::out, "Y", R, O.order, named<"N">, named<"K">, named<"P">, named<"Q">> Y) {
      using axes::n, axes::p, axes::q, axes::k, axes::r, axes::s, axes::c;
      static_assert(O.groups == 1, "tilewright: a transposed convolution has no groups option");
      const auto padded = zero_outside(X);
      const auto h = p + O.padding[0] - r * O.dilation[0];
      const auto w = q + O.padding[1] - s * O.dilation[1];
      const auto least_p = (extent<"H"> - 1) * O.stride[0] + O.dilation[0] * (extent<"R"> - 1) + 1 -
                           2 * O.padding[0];
      const auto least_q = (extent<"W"> - 1) * O.stride[1] + O.dilation[1] * (extent<"S"> - 1) + 1 -
                           2 * O.padding[1];
      return blocks(expects((extent<"P"> >= least_p) & (extent<"P"> < least_p + O.stride[0])),
                    expects((extent<"Q"> >= least_q) & (extent<"Q"> < least_q + O.stride[1])),
                    image_at<O.order>(Y, n, k, p, q) = sum<r, s, c>(select(
                        (h % O.stride[0] == 0) & (w % O.stride[1] == 0),
                        cast<R>(image_at<O.order>(padded, n, c, h / O.stride[0], w / O.stride[1])) *
                            cast<R>(detail::transposed_filter_at<O.order, Filter>(F, c, k, r, s)),
                        0)));
    });

}  // namespace tilewright::ops
