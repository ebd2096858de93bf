// What the operators on images share: layouts of dimensions and indices, options of windows.
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

/// Order of channels and space in images: N, space..., C or N, C, space...; filters go with it:
/// space..., C, K or K, C, space...
enum class layout { channels_last, channels_first };

/// Options of convolutions; `groups` divides the channels.
struct conv_options {
  sizes stride = 1;
  sizes padding = 0;
  sizes dilation = 1;
  int groups = 1;
  layout order = layout::channels_last;
};

enum class activation { none, relu, sigmoid, tanh, silu, gelu };

/// The activation A of an expression.
template <activation A, class X>
constexpr auto activate(const X& x) {
  if constexpr (A == activation::relu)
    return max(x, 0);
  else if constexpr (A == activation::sigmoid)
    return sigmoid(x);
  else if constexpr (A == activation::tanh)
    return tanh(x);
  else if constexpr (A == activation::silu)
    return x * sigmoid(x);
  else if constexpr (A == activation::gelu)
    return x * 0.5 * (1.0 + erf(x * 0.70710678118654752440));
  else
    return +x;
}

/// Dimension as a type. These take the place of "N" where dimensions depend on template parameters:
/// g++ 12 crashes on a `dim` that does.
template <fixed_string Name>
using named = meta::dim_name<meta::to_name<Name>>;
/// Dimension A or B.
template <bool First, fixed_string A, fixed_string B>
using named_if = std::conditional_t<First, named<A>, named<B>>;

/// @cond
namespace detail {

/// Tensor types with the dimensions in the order of the layout.
template <dsl::role R, class Name, class T, layout L, class N, class C, class... S>
struct image_type {
  using type = dsl::tensor<R, Name, T, N, C, S...>;
};
template <dsl::role R, class Name, class T, class N, class C, class... S>
struct image_type<R, Name, T, layout::channels_last, N, C, S...> {
  using type = dsl::tensor<R, Name, T, N, S..., C>;
};
template <class Name, class T, layout L, class C, class K, class... S>
struct filter_type {
  using type = dsl::tensor<dsl::role::weight, Name, T, K, C, S...>;
};
template <class Name, class T, class C, class K, class... S>
struct filter_type<Name, T, layout::channels_last, C, K, S...> {
  using type = dsl::tensor<dsl::role::weight, Name, T, S..., C, K>;
};

}  // namespace detail
/// @endcond

/// Tensor with dimensions given as types.
template <dsl::role R, fixed_string Name, class T, class... D>
using shaped = dsl::tensor<R, meta::to_name<Name>, dsl::canonical<T>, D...>;
/// Image with the dimensions N, C, S... in the order of the layout L.
template <dsl::role R, fixed_string Name, class T, layout L, class... D>
using image = typename detail::image_type<R, meta::to_name<Name>, dsl::canonical<T>, L, D...>::type;
/// Filter with the dimensions C, K, S... in the order of the layout L.
template <fixed_string Name, class T, layout L, class... D>
using filter = typename detail::filter_type<meta::to_name<Name>, dsl::canonical<T>, L, D...>::type;

/// x at batch n, channel c and a place, in the order of the layout L.
template <layout L, class X, class N, class C, class... S>
constexpr auto image_at(const X& x, const N& n, const C& c, const S&... s) {
  if constexpr (L == layout::channels_last)
    return x(n, s..., c);
  else
    return x(n, c, s...);
}
template <layout L, class F, class C, class K, class... S>
constexpr auto filter_at(const F& f, const C& c, const K& k, const S&... s) {
  if constexpr (L == layout::channels_last)
    return f(s..., c, k);
  else
    return f(k, c, s...);
}

/// Extent Out equals that of the windows Window over In.
template <fixed_string Out, fixed_string In, fixed_string Window, conv_options O, int K>
constexpr auto expects_windows() {
  return expects(
      extent<Out> ==
      (extent<In> + 2 * O.padding[K] - O.dilation[K] * (extent<Window> - 1) - 1) / O.stride[K] + 1);
}

/// Input index of output p and window position r.
template <class P, class R>
constexpr auto window_at(const P& p, const R& r, std::int64_t stride, std::int64_t dilation,
                         std::int64_t padding) {
  return p * stride + r * dilation - padding;
}
/// The same in dimension K of the options.
template <conv_options O, int K, class P, class R>
constexpr auto window_at(const P& p, const R& r) {
  return window_at(p, r, O.stride[K], O.dilation[K], O.padding[K]);
}

/// Conversion to R as an object: what a body converts its operands with.
template <class R>
struct cast_to {
  template <class X>
  constexpr auto operator()(const X& x) const {
    return cast<R>(x);
  }
};

}  // namespace tilewright::ops
