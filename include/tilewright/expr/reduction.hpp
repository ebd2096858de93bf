// Reductions: the built-in ones, and folds over tuples with an identity and a combiner.
//
// A reduction names its axes as template arguments. Its combiner has to be associative and
// commutative: schedules reorder it.
#pragma once

#include <limits>
#include <tuple>

#include <tilewright/expr/arithmetic.hpp>

namespace tilewright::dsl {

template <class... T>
inline constexpr bool reduces_bool = false;
template <class... T>
inline constexpr bool reduces_numbers = false;
template <class... T>
inline constexpr bool has_one_part_per_value = false;

/// @cond
template <auto... Axis>
inline constexpr bool all_axes = sizeof...(Axis) > 0 &&
                                 (is_axis<std::remove_cv_t<decltype(Axis)>> && ...);

template <reduction Kind, auto... Axis, operand X>
constexpr auto reduce(const X& x) {
  using T = element_of<X>;
  static_assert(sizeof...(Axis) <= 16, "tilewright: a reduction has at most 16 axes");
  constexpr bool logical = Kind == reduction::any || Kind == reduction::all;
  if constexpr (logical && !std::is_same_v<T, bool>) {
    TILEWRIGHT_MISTAKE(reduces_bool, "tilewright: any and all reduce bool; write x != 0", T);
  } else if constexpr (!logical && (std::is_same_v<T, bool>)) {
    TILEWRIGHT_MISTAKE(reduces_numbers, "tilewright: bool is reduced by any and all", T);
  }
  constexpr bool position = Kind == reduction::argmax || Kind == reduction::argmin;
  node n;
  n.kind = node_kind::reduce;
  n.reduction = Kind;
  n.axes = sizeof...(Axis);
  n.width = position ? 2 : 1;
  n.item = position ? 1 : 0;
  using result = std::conditional_t<position, index, T>;
  return make_expression<result>(n, to_expression(Axis)..., to_expression(x));
}
/// @endcond

template <auto... Axis, operand X>
requires all_axes<Axis...>
constexpr auto sum(const X& x) { return reduce<reduction::sum, Axis...>(x); }
template <auto... Axis, operand X>
requires all_axes<Axis...>
constexpr auto prod(const X& x) { return reduce<reduction::prod, Axis...>(x); }
/// The largest element. Where one is NaN it is that of some of the others, or NaN, as the schedule
/// has them follow each other: write maximum where NaN shall stay.
template <auto... Axis, operand X>
requires all_axes<Axis...>
constexpr auto max(const X& x) { return reduce<reduction::max, Axis...>(x); }
template <auto... Axis, operand X>
requires all_axes<Axis...>
constexpr auto min(const X& x) { return reduce<reduction::min, Axis...>(x); }
/// @cond
template <class... T>
inline constexpr bool names_its_axes = false;

/// What a reduction over nothing is told.
template <operand X>
constexpr auto reduce_nothing(const X& x) {
  TILEWRIGHT_MISTAKE(names_its_axes,
                     "tilewright: a reduction names the axes that it goes over; write sum<j>(x)",
                     typename told<X>::type);
  return to_expression(x);
}
template <operand X>
constexpr auto sum(const X& x) {
  return reduce_nothing(x);
}
template <operand X>
constexpr auto prod(const X& x) {
  return reduce_nothing(x);
}
template <operand X>
constexpr auto max(const X& x) {
  return reduce_nothing(x);
}
template <operand X>
constexpr auto min(const X& x) {
  return reduce_nothing(x);
}
/// @endcond

/// True when x holds somewhere.
template <auto... Axis, operand X>
requires all_axes<Axis...>
constexpr auto any(const X& x) { return reduce<reduction::any, Axis...>(x); }
/// True when x holds everywhere.
template <auto... Axis, operand X>
requires all_axes<Axis...>
constexpr auto all(const X& x) { return reduce<reduction::all, Axis...>(x); }
/// Position of the largest element as an index, the first among equals; over several axes the
/// row-major position. Where an element is NaN, the position of some element.
template <auto... Axis, operand X>
requires all_axes<Axis...>
constexpr auto argmax(const X& x) { return reduce<reduction::argmax, Axis...>(x); }
template <auto... Axis, operand X>
requires all_axes<Axis...>
constexpr auto argmin(const X& x) { return reduce<reduction::argmin, Axis...>(x); }

/// A commutative reducer over tuples: `identity` holds literals, `combine(a, b)` takes two tuples
/// of expressions (a the accumulated one) and returns the combined tuple. With one part, both take
/// and return plain values.
template <class Identity, class Combine>
struct reducer_of {
  Identity identity;
  Combine combine;
};

/// A reducer for `fold`: identity (a literal, or a std::tuple of them) and combiner.
template <class Identity, class Combine>
constexpr reducer_of<Identity, Combine> reducer(Identity identity, Combine combine) {
  return {identity, combine};
}

template <class T>
inline constexpr int tuple_parts = 0;
template <class... T>
inline constexpr int tuple_parts<std::tuple<T...>> = sizeof...(T);

/// @cond
template <class T>
constexpr auto placeholder(int position) {
  expression<T, 1> out;
  node n = type_node<T>();
  n.kind = node_kind::placeholder;
  n.integer = position;
  out.nodes[0] = n;
  return out;
}

/// Result of a fold over tuples: the right side of a `tie`.
template <class... T>
struct fold_types {};
template <class Types, class T, int N>
struct fold_result {
  expression<T, N> value;
};

template <class... T, std::size_t... I, class Reducer, class Values, class Axes>
constexpr auto make_fold(fold_types<T...>, std::index_sequence<I...>, const Reducer& r,
                         const Values& values, const Axes& axes_) {
  constexpr int width = sizeof...(T);
  node n;
  n.kind = node_kind::reduce;
  n.reduction = reduction::user;
  n.axes = static_cast<std::int16_t>(std::tuple_size_v<Axes>);
  n.width = width;
  const auto left = std::make_tuple(placeholder<T>(static_cast<int>(I))...);
  const auto right = std::make_tuple(placeholder<T>(static_cast<int>(I) + width)...);
  const auto build = [&](const auto& identity, const auto& combined) {
    return std::apply(
        [&](const auto&... axis_) {
          using first = std::tuple_element_t<0, std::tuple<T...>>;
          return make_expression<first>(n, axis_..., std::get<I>(values)...,
                                        literal_expression<T>(std::get<I>(identity))...,
                                        as_expression<T>(std::get<I>(combined))...);
        },
        axes_);
  };
  if constexpr (width == 1)
    return build(std::make_tuple(r.identity),
                 std::make_tuple(r.combine(std::get<0>(left), std::get<0>(right))));
  else
    return build(r.identity, r.combine(left, right));
}
/// @endcond

/// @cond
template <class X, class Part>
struct part_type {
  using type = canonical<Part>;
};
template <operand X, class Part>
struct part_type<X, Part> {
  using type = element_of<X>;
};

template <auto... Axis, class Identity, class Combine, std::size_t... I, class... X>
constexpr auto fold_tuple(const reducer_of<Identity, Combine>& r, std::index_sequence<I...> at,
                          const X&... x) {
  using types = fold_types<typename part_type<X, std::tuple_element_t<I, Identity>>::type...>;
  const auto e = make_fold(
      types{}, at, r,
      std::make_tuple(
          as_expression<typename part_type<X, std::tuple_element_t<I, Identity>>::type>(x)...),
      std::make_tuple(to_expression(Axis)...));
  using value = std::remove_const_t<decltype(e)>;
  return fold_result<types, typename value::element, value::length>{e};
}
/// @endcond

/// Folds the values over the axes with a user's reducer. One value: an expression; several: the
/// right side of `tie(a(i), b(i)) = fold<j>(r, x, y)`. A literal among the values takes the type of
/// the identity's part.
template <auto... Axis, class Identity, class Combine, class... X>
requires all_axes<Axis...>
constexpr auto fold(const reducer_of<Identity, Combine>& r, const X&... x) {
  constexpr int parts = tuple_parts<Identity> ? tuple_parts<Identity> : 1;
  static_assert(parts <= 8 && sizeof...(Axis) <= 16,
                "tilewright: a fold has at most 8 parts and 16 axes");
  if constexpr (parts != sizeof...(X)) {
    TILEWRIGHT_MISTAKE(has_one_part_per_value,
                       "tilewright: fold needs one value per part of the identity of its reducer",
                       Identity);
  } else if constexpr (parts == 1) {
    using T = typename part_type<X..., Identity>::type;
    return make_fold(fold_types<T>{}, std::make_index_sequence<1>{}, r,
                     std::make_tuple(as_expression<T>(x)...),
                     std::make_tuple(to_expression(Axis)...));
  } else {
    return fold_tuple<Axis...>(r, std::index_sequence_for<X...>{}, x...);
  }
}

/// The largest element, or NaN where one is NaN, in any order of the elements.
template <auto... Axis, operand X>
requires all_axes<Axis...>
constexpr auto maximum(const X& x) {
  if constexpr (is_float_element<element_of<X>>)
    return fold<Axis...>(reducer(-std::numeric_limits<float>::infinity(),
                                 [](auto a, auto b) { return maximum(a, b); }),
                         x);
  else
    return max<Axis...>(x);
}
template <auto... Axis, operand X>
requires all_axes<Axis...>
constexpr auto minimum(const X& x) {
  if constexpr (is_float_element<element_of<X>>)
    return fold<Axis...>(reducer(std::numeric_limits<float>::infinity(),
                                 [](auto a, auto b) { return minimum(a, b); }),
                         x);
  else
    return min<Axis...>(x);
}

/// Targets of a definition with several outputs.
template <class... Access>
struct tied {
  std::tuple<Access...> targets;

  template <class... T, class U, int N>
  constexpr auto operator=(const fold_result<fold_types<T...>, U, N>& fold) const {
    if constexpr (sizeof...(T) != sizeof...(Access)) {
      TILEWRIGHT_MISTAKE(has_one_part_per_value,
                         "tilewright: tie needs one target per part of the fold", fold_types<T...>);
    } else if constexpr (!(assigns<typename Access::element, T> && ...)) {
      TILEWRIGHT_MISTAKE(takes_element_type,
                         "tilewright: a part of a fold is tied to a tensor of another element type",
                         typename Access::element..., T...);
    } else {
      return std::apply(
          [&](const auto&... target) { return make_definition(fold.value, target.target()...); },
          targets);
    }
  }
};

/// `tie(peak(i), total(i)) = fold<j>(online_softmax, X(i, j), 1.0f)`.
template <class... Tensor, int... N>
constexpr auto tie(const access<Tensor, N>&... target) {
  static_assert(((Tensor::tensor_role != role::in && Tensor::tensor_role != role::weight) && ...),
                "tilewright: an input cannot be assigned; declare it out or inout");
  return tied<access<Tensor, N>...>{std::tuple<access<Tensor, N>...>(target...)};
}

}  // namespace tilewright::dsl

namespace tilewright {

using dsl::all, dsl::any, dsl::argmax, dsl::argmin, dsl::fold, dsl::prod, dsl::sum, dsl::tie;
// those declared since arithmetic.hpp's using-declarations
using dsl::max, dsl::maximum, dsl::min, dsl::minimum, dsl::reducer;

}  // namespace tilewright
