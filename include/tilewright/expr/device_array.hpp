// Arrays in the memory of a GPU, as arguments of a call.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <tilewright/expr/argument.hpp>

namespace tilewright {

/// A view whose elements lie in the memory of a GPU; see `on_device`.
template <class View>
struct device_array {
  View elements;
};

/// A `view(...)`, mdspan or span of the memory of a GPU as an argument: a call runs there.
///
///     op(on_device(x, {rows, columns}), on_device(y, {rows, columns}));
template <class View>
requires(
    dsl::view_form<View> || dsl::mdspan_form<View> ||
    (dsl::range_form<View> &&
     std::is_trivially_copyable_v<View>)) constexpr device_array<View> on_device(View elements) {
  return {elements};
}
/// Row-major and contiguous.
template <class T, std::size_t Rank>
constexpr device_array<strided_view<T, Rank>> on_device(T* data,
                                                        const std::int64_t (&extents)[Rank]) {
  return {view(data, extents)};
}
template <class T, std::size_t Rank>
constexpr device_array<strided_view<T, Rank>> on_device(T* data,
                                                        const std::int64_t (&extents)[Rank],
                                                        const std::int64_t (&strides)[Rank]) {
  return {view(data, extents, strides)};
}
/// One element, for an output without dimensions.
template <class T>
constexpr device_array<strided_view<T, 0>> on_device(T* data) {
  return {{data, {}, {}}};
}

namespace dsl {

template <class A>
inline constexpr bool is_device_array = false;
template <class View>
inline constexpr bool is_device_array<device_array<View>> = true;
/// Whether arguments of this type lie in the memory of a GPU.
template <class A>
inline constexpr bool lies_on_device = is_device_array<A>;
template <class A>
concept device_form = lies_on_device<std::remove_const_t<A>>;

/// @cond
template <class A>
requires is_device_array<std::remove_const_t<A>>
struct recognized<A>
    : recognized<std::conditional_t<std::is_const_v<A>, const decltype(A::elements),
                                    std::remove_const_t<decltype(A::elements)>>> {
  static argument make(A& a, int rank) {
    return recognized<std::remove_reference_t<decltype((a.elements))>>::make(a.elements, rank);
  }
};
/// @endcond

/// @name Predicates of compile-time errors: false for the offenders they name
/// @{
template <class... T>
inline constexpr bool argument_lies_with_the_others = false;
template <class... T>
inline constexpr bool scalar_is_given_by_value = false;
template <class... T>
inline constexpr bool array_lies_on_the_host = false;
/// @}

/// Whether one of these arguments lies in the memory of a GPU.
template <class... A>
inline constexpr bool any_on_device = (device_form<std::remove_reference_t<A>> || ... || false);

/// @cond
template <class Param, class A>
constexpr bool check_place() {
  constexpr bool scalar = Param::rank == 0 &&
                          (Param::tensor_role == role::in || Param::tensor_role == role::weight),
                 there = device_form<std::remove_reference_t<A>>;
  if constexpr (scalar && there)
    TILEWRIGHT_MISTAKE(scalar_is_given_by_value,
                       "tilewright: a scalar is handed to a GPU by its value, which lies on the "
                       "host; copy it from the device, or declare it <\"name\", T, 1>",
                       meta::shown<typename Param::name>);
  else if constexpr (!scalar && !there)
    TILEWRIGHT_MISTAKE(argument_lies_with_the_others,
                       "tilewright: the arrays of a call lie on one GPU, or all of them on the "
                       "host; copy this one to the device, and write on_device(...) around it",
                       meta::shown<typename Param::name>, std::remove_reference_t<A>);
  return scalar != there;
}

template <class Name, int N, class... Param, class... A>
constexpr bool check_places_of(const kernel_of<Name, N, Param...>*, argument_types<A...>) {
  return (check_place<Param, A>() && ...);
}
/// @endcond

/// Compile-time check of a call with arrays on a device, which has passed check_call: all arrays lie
/// there, and scalars on the host. True when there is no mistake.
template <class Kernel, class... Args>
constexpr bool check_places() {
  return check_places_of(static_cast<const Kernel*>(nullptr), argument_types<Args...>{});
}

/// The same for what asks for arrays of the host.
template <fixed_string Function, class... Args>
constexpr bool check_on_host() {
  if constexpr (any_on_device<Args...>)
    TILEWRIGHT_MISTAKE(array_lies_on_the_host,
                       "tilewright: this function reads arrays of the host; copy what lies on a "
                       "device",
                       meta::shown<meta::to_name<Function>>);
  return !any_on_device<Args...>;
}

}  // namespace dsl
}  // namespace tilewright
