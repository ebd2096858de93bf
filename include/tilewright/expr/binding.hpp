// Parameters of a kernel that are bound beforehand, and what a call brings then.
#pragma once

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>

#include <tilewright/expr/argument.hpp>

namespace tilewright::dsl {

/// A parameter's name and what it is bound to. Lives as long as the expression that it is made in.
template <fixed_string Name, class Argument>
struct binding_to {
  Argument& value;
};

/// The left side of `name_of<"W"> = w`.
template <fixed_string Name>
struct parameter_name {
  template <class Argument>
  constexpr binding_to<Name, std::remove_reference_t<Argument>> operator=(Argument&& value) const {
    return {value};
  }
};

/// @name Predicates of compile-time errors: false for the offenders they name
/// @{
template <class... T>
inline constexpr bool is_a_weight = false;
template <class... T>
inline constexpr bool is_bound_once = false;
/// @}

/// @cond
template <class... A, class... B>
param_list<A..., B...> operator+(param_list<A...>, param_list<B...>);

template <class Param, class... Bound>
inline constexpr bool is_bound = (std::is_same_v<typename Param::name, Bound> || ...);

template <class Kernel, class... Bound>
struct remaining;
template <class Name, int N, class... Param, class... Bound>
struct remaining<kernel_of<Name, N, Param...>, Bound...> {
  template <class... Kept>
  static kernel_of<Name, N, Kept...> kernel_with(param_list<Kept...>);
  /// The kernel with the parameters that a call brings.
  using kernel = decltype(kernel_with(
      (param_list<>{} + ... +
       std::conditional_t<is_bound<Param, Bound...>, param_list<>, param_list<Param>>{})));
  /// The positions of their arrays among those of all parameters.
  static constexpr auto positions = [] {
    constexpr bool bound[] = {is_bound<Param, Bound...>..., false};
    constexpr int arrays[] = {arrays_of_param<Param, Param...>()..., 0};
    std::array<std::size_t,
               static_cast<std::size_t>((1 + ... + arrays_of_param<Param, Param...>()))>
        out{};
    std::size_t at = 0, next = 0;
    for (std::size_t param = 0; param < sizeof...(Param); ++param)
      for (int array = 0; array < arrays[param]; ++array, ++at)
        if (!bound[param]) out[next++] = at;
    return out;
  }();
};

template <int At, class Name, int N, class... Param>
std::tuple_element_t<At, std::tuple<Param...>> param_at(const kernel_of<Name, N, Param...>*);
/// @endcond

/// The parameter of a kernel at a position.
template <class Kernel, int At>
using param_of = decltype(param_at<At>(static_cast<const Kernel*>(nullptr)));

/// Compile-time check of `op.with<Name>(a)` for an op whose parameters `Bound` are bound already;
/// true when there is no mistake.
template <class Kernel, fixed_string Name, class A, class... Bound>
constexpr bool check_binding() {
  constexpr int at = param_index<Kernel, Name>();
  if constexpr (at >= 0) {
    using param = param_of<Kernel, at>;
    if constexpr (param::tensor_role != role::weight) {
      TILEWRIGHT_MISTAKE(
          is_a_weight, "tilewright: only a weight can be bound; declare the parameter weight<...>",
          meta::shown<typename param::name>);
      return false;
    } else if constexpr (is_bound<param, Bound...>) {
      TILEWRIGHT_MISTAKE(is_bound_once, "tilewright: a weight is bound once",
                         meta::shown<typename param::name>);
      return false;
    } else {
      return check_argument<param, A>();
    }
  } else {
    return false;
  }
}

}  // namespace tilewright::dsl

namespace tilewright {

/// A parameter by its name, for `bind(op, name_of<"W"> = w)`.
template <fixed_string Name>
inline constexpr dsl::parameter_name<Name> name_of{};

}  // namespace tilewright
