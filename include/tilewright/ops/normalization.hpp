// Softmax and normalizations over rows, and batch normalization.
#pragma once

#include <tilewright/expr/kernel.hpp>

namespace tilewright::ops {

/// @cond
namespace detail {

// What follows serves kernels of types and those built at run time; `i` is the row, an axis or a
// list of axes, and j the column.

/// Maximum, exponentials and their sum: softmax is e / total.
template <class X, class Peak, class E, class Total, class Row>
constexpr auto softmax_stages(const X& x, const Peak& peak, const E& e, const Total& total,
                              const Row& i) {
  using axes::j;
  return blocks(peak(i) = max<j>(x(i, j)), e(i, j) = exp(x(i, j) - peak(i)),
                total(i) = sum<j>(e(i, j)));
}

/// Maximum, and the logarithm of the sum of exponentials relative to it.
template <class X, class Peak, class Total, class Row>
constexpr auto log_softmax_stages(const X& x, const Peak& peak, const Total& total, const Row& i) {
  using axes::j;
  return blocks(peak(i) = max<j>(x(i, j)), total(i) = log(sum<j>(exp(x(i, j) - peak(i)))));
}

/// Mean and variance of the rows of x, of `count` elements each.
template <class X, class Mean, class Variance, class Row, class Count>
constexpr auto moment_stages(const X& x, const Mean& mean, const Variance& variance, const Row& i,
                             const Count& count) {
  using axes::j;
  const auto centred = x(i, j) - mean(i);
  return blocks(mean(i) = sum<j>(x(i, j)) / count, variance(i) = sum<j>(centred * centred) / count);
}

/// x to mean 0 and variance 1, scaled and shifted.
template <class X, class Mean, class Variance, class Epsilon, class Gamma, class Beta>
constexpr auto normalized(const X& x, const Mean& mean, const Variance& variance,
                          const Epsilon& epsilon, const Gamma& gamma, const Beta& beta) {
  return (x - mean) * rsqrt(variance + epsilon) * gamma + beta;
}

}  // namespace detail
/// @endcond

/// Y[i, j] = exp(X[i, j]) / sum over j, computed from the differences to the row's maximum.
template <class T>
constexpr auto softmax = kernel<"softmax">([](in<"X", T, "M", "N"> X, out<"Y", T, "M", "N"> Y) {
  using axes::i, axes::j;
  temp<"peak", T, "M"> peak;
  temp<"e", T, "M", "N"> e;
  temp<"total", T, "M"> total;
  return blocks(detail::softmax_stages(X, peak, e, total, i), Y(i, j) = e(i, j) / total(i));
});

/// The logarithm of softmax.
template <class T>
constexpr auto log_softmax = kernel<"log_softmax">([](in<"X", T, "M", "N"> X,
                                                      out<"Y", T, "M", "N"> Y) {
  using axes::i, axes::j;
  temp<"peak", T, "M"> peak;
  temp<"total", T, "M"> total;
  return blocks(detail::log_softmax_stages(X, peak, total, i),
                Y(i, j) = X(i, j) - peak(i) - total(i));
});

/// @cond
namespace detail {
/// Reducer of softmax's pair: the maximum, and the sum of exponentials relative to it.
template <class T>
inline constexpr auto online_softmax =
    reducer(std::tuple<T, T>{std::numeric_limits<T>::lowest(), T(0)}, [](auto a, auto b) {
      const auto [m, s] = a;
      const auto [n, t] = b;
      const auto less = exp(-abs(m - n));  // the sum of the greater maximum is taken as it is
      return std::make_tuple(max(m, n), select(m < n, s * less + t, s + t * less));
    });
}  // namespace detail
/// @endcond

/// softmax in two passes over X: maximum and sum come from one fold over pairs.
template <class T>
constexpr auto online_softmax = kernel<"online_softmax">([](in<"X", T, "M", "N"> X,
                                                            out<"Y", T, "M", "N"> Y) {
  using axes::i, axes::j;
  temp<"peak", T, "M"> peak;
  temp<"total", T, "M"> total;
  return blocks(tie(peak(i), total(i)) = fold<j>(detail::online_softmax<T>, X(i, j), 1),
                Y(i, j) = exp(X(i, j) - peak(i)) / total(i));
});

/// Rows to mean 0 and variance 1, then scaled by gamma and shifted by beta.
template <class T>
constexpr auto layer_norm = kernel<"layer_norm">(
    [](in<"X", T, "M", "N"> X, weight<"gamma", T, "N"> gamma, weight<"beta", T, "N"> beta,
       in<"epsilon", T> epsilon, out<"Y", T, "M", "N"> Y) {
      using axes::i, axes::j;
      temp<"mean", T, "M"> mean;
      temp<"variance", T, "M"> variance;
      return blocks(
          detail::moment_stages(X, mean, variance, i, cast<T>(extent<"N">)),
          Y(i, j) = detail::normalized(X(i, j), mean(i), variance(i), epsilon, gamma(j), beta(j)));
    });

/// Rows divided by the root of their mean square, then scaled by gamma.
template <class T>
constexpr auto rms_norm = kernel<"rms_norm">([](in<"X", T, "M", "N"> X,
                                                weight<"gamma", T, "N"> gamma,
                                                in<"epsilon", T> epsilon, out<"Y", T, "M", "N"> Y) {
  using axes::i, axes::j;
  temp<"square", T, "M"> square;
  return blocks(square(i) = sum<j>(X(i, j) * X(i, j)) / cast<T>(extent<"N">),
                Y(i, j) = X(i, j) * rsqrt(square(i) + epsilon) * gamma(j));
});

/// Inference: each channel (last dimension) by its stored mean and variance, scaled and shifted.
template <class T>
constexpr auto batch_norm = kernel<"batch_norm">(
    [](in<"X", T, "M", "C"> X, weight<"mean", T, "C"> mean, weight<"variance", T, "C"> variance,
       weight<"gamma", T, "C"> gamma, weight<"beta", T, "C"> beta, in<"epsilon", T> epsilon,
       out<"Y", T, "M", "C"> Y) {
      using axes::i, axes::c;
      return Y(i, c) =
                 detail::normalized(X(i, c), mean(c), variance(c), epsilon, gamma(c), beta(c));
    });

/// y[b] = root of the sum of squares of X[b].
template <class T>
constexpr auto l2_norm = kernel<"l2_norm">([](in<"X", T, "B", "M", "N"> X, out<"Y", T, "B"> Y) {
  using axes::b, axes::i, axes::j;
  return Y(b) = sqrt(sum<i, j>(X(b, i, j) * X(b, i, j)));
});

/// Rows divided by their l2 norm.
template <class T>
constexpr auto l2_normalize = kernel<"l2_normalize">([](in<"X", T, "M", "N"> X,
                                                        in<"epsilon", T> epsilon,
                                                        out<"Y", T, "M", "N"> Y) {
  using axes::i, axes::j;
  temp<"square", T, "M"> square;
  return blocks(square(i) = sum<j>(X(i, j) * X(i, j)),
                Y(i, j) = X(i, j) * rsqrt(square(i) + epsilon));
});

}  // namespace tilewright::ops
