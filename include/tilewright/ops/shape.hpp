// Operators that move or map elements: transpose, permute, concat, elementwise chains.
#pragma once

#include <tilewright/ops/image.hpp>

namespace tilewright::ops {

/// Y[j, i] = X[i, j].
template <class T>
constexpr auto transpose = kernel<"transpose">([](in<"X", T, "M", "N"> X, out<"Y", T, "N", "M"> Y) {
  using axes::i, axes::j;
  return Y(j, i) = X(i, j);
});

/// @cond
namespace detail {

template <int K>
using dim_number = meta::dim_name<meta::name<'D', static_cast<char>('0' + K)>>;
template <int K>
inline constexpr dsl::axis_of<meta::name<'i', static_cast<char>('0' + K)>> axis_number;

/// Tensor with the dimensions D<K>...
template <dsl::role R, char Name, class T, int... K>
using numbered = dsl::tensor<R, meta::name<Name>, dsl::canonical<T>, dim_number<K>...>;

template <class T, int... P, int... I>
constexpr auto make_permute(std::integer_sequence<int, I...>) {
  return kernel<"permute">(
      [](numbered<dsl::role::in, 'X', T, I...> X, numbered<dsl::role::out, 'Y', T, P...> Y) {
        return Y(axis_number<P>...) = X(axis_number<I>...);
      });
}

template <class T, class F, int... I>
constexpr auto make_map(std::integer_sequence<int, I...>) {
  return kernel<"map">(
      [](numbered<dsl::role::in, 'X', T, I...> X, numbered<dsl::role::out, 'Y', T, I...> Y) {
        return Y(axis_number<I>...) = F{}(X(axis_number<I>...));
      });
}

template <class T, class F, int... I>
constexpr auto make_zip(std::integer_sequence<int, I...>) {
  return kernel<"zip">([](numbered<dsl::role::in, 'A', T, I...> A,
                          numbered<dsl::role::in, 'B', T, I...> B,
                          numbered<dsl::role::out, 'Y', T, I...> Y) {
    return Y(axis_number<I>...) = F{}(A(axis_number<I>...), B(axis_number<I>...));
  });
}

}  // namespace detail
/// @endcond

/// Dimension k of Y is dimension P[k] of X: permute<float, 0, 2, 3, 1> makes N, C, H, W to N, H, W,
/// C.
template <class T, int... P>
constexpr auto permute =
    detail::make_permute<T, P...>(std::make_integer_sequence<int, sizeof...(P)>{});

/// Y = [A B] along the columns (Dimension 1) or the rows (0).
template <class T, int Dimension = 1>
constexpr auto concat =
    kernel<"concat">([](shaped<dsl::role::in, "A", T, named_if<Dimension == 1, "M", "MA">,
                               named_if<Dimension == 1, "NA", "N">>
                            A,
                        shaped<dsl::role::in, "B", T, named_if<Dimension == 1, "M", "MB">,
                               named_if<Dimension == 1, "NB", "N">>
                            B,
                        out<"Y", T, "M", "N"> Y) {
      using axes::i, axes::j;
      static_assert(Dimension == 0 || Dimension == 1,
                    "tilewright: concat takes dimension 0 (rows) or 1 (columns)");
      if constexpr (Dimension == 1)
        return blocks(expects(extent<"N"> == extent<"NA"> + extent<"NB">), Y(i, j) = A(i, j),
                      Y(i, j + extent<"NA">) = B(i, j));
      else
        return blocks(expects(extent<"M"> == extent<"MA"> + extent<"MB">), Y(i, j) = A(i, j),
                      Y(i + extent<"MA">, j) = B(i, j));
    });

/// Y = f(X) elementwise; f is a lambda without captures on expressions, and may be a whole chain:
/// `map<float, 2>([](auto x) { return exp(tanh(x) * 2.0f); })`.
template <class T, int Rank = 1, class F>
constexpr auto map(F) {
  static_assert(Rank < 10 && std::is_empty_v<F>,
                "tilewright: map takes a lambda without captures, and a rank below 10");
  return detail::make_map<T, F>(std::make_integer_sequence<int, Rank>{});
}

/// Y = f(A, B) elementwise.
template <class T, int Rank = 1, class F>
constexpr auto zip(F) {
  static_assert(Rank < 10 && std::is_empty_v<F>,
                "tilewright: zip takes a lambda without captures, and a rank below 10");
  return detail::make_zip<T, F>(std::make_integer_sequence<int, Rank>{});
}

/// Y = X + bias over the columns, then an activation.
template <class T, activation A = activation::none>
constexpr auto bias_add = kernel<"bias_add">([](in<"X", T, "M", "N"> X, weight<"bias", T, "N"> bias,
                                                out<"Y", T, "M", "N"> Y) {
  using axes::i, axes::j;
  return Y(i, j) = activate<A>(X(i, j) + bias(j));
});

/// y = alpha x + y in place.
template <class T>
constexpr auto axpy = kernel<"axpy">([](in<"alpha", T> alpha, in<"x", T, "N"> x,
                                        inout<"y", T, "N"> y) {
  using axes::i;
  return y(i) = alpha * x(i) + y(i);
});

}  // namespace tilewright::ops
