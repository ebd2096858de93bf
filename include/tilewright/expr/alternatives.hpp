// Several algorithms for one computation, of which search takes the faster.
#pragma once

#include <functional>
#include <type_traits>
#include <vector>

#include <tilewright/expr/kernel.hpp>
#include <tilewright/expr/reify.hpp>

namespace tilewright {
namespace dsl {

/// @name Predicates of compile-time errors: false for the offenders they name
/// @{
template <class... T>
inline constexpr bool has_the_parameters_of_the_first = false;
template <class... T>
inline constexpr bool has_a_name_of_its_own = false;
/// @}

/// Adds algorithms to a program of given extents (ir/alternatives.hpp).
using algorithm_deriver = std::function<ir::function(const ir::function&)>;

/// Kernels of which the first one lends name and parameters to all.
template <class First>
struct algorithms {
  std::vector<any_kernel> kernels;
  algorithm_deriver derive = {};  // further ones, that follow from the first; may be empty
};

/// @cond
template <class A, class B>
inline constexpr bool same_parameters = false;
template <class A, int M, class B, int N, class... Param>
inline constexpr bool same_parameters<kernel_of<A, M, Param...>, kernel_of<B, N, Param...>> = true;

template <class First, class Other>
constexpr void check_alternative() {
  if constexpr (!same_parameters<First, Other>)
    TILEWRIGHT_MISTAKE(has_the_parameters_of_the_first,
                       "tilewright: alternatives(...) takes kernels with equal parameters",
                       meta::shown<typename Other::name>);
  else if constexpr (std::is_same_v<typename First::name, typename Other::name>)
    TILEWRIGHT_MISTAKE(has_a_name_of_its_own,
                       "tilewright: alternatives(...) takes kernels with different names",
                       meta::shown<typename Other::name>);
}
/// @endcond

}  // namespace dsl

/// Two or more algorithms with equal parameters for one computation:
///
///     tuned op{alternatives(direct, by_matmul)};
///
/// Search explores the spaces of all; a trace begins with the name of its algorithm, and records
/// are kept under the first one. Before anything is measured they are compared with each other, at
/// small extents by the interpreter; results that differ are an argument_error.
template <class First, class... Other>
dsl::algorithms<First> alternatives(const First& first, const Other&... others) {
  (dsl::check_alternative<First, Other>(), ...);
  return {{any_kernel(first), any_kernel(others)...}, {}};
}

/// The IR function of the first kernel, which carries the others (ir/alternatives.hpp).
/// @throws argument_error as reify of one kernel, and when two kernels share a name
ir::function reify(const std::vector<any_kernel>& algorithms, const dim_values& dims = {});
template <class First>
ir::function reify(const dsl::algorithms<First>& all, const dim_values& dims = {}) {
  const ir::function f = reify(all.kernels, dims);
  return all.derive ? all.derive(f) : f;
}

}  // namespace tilewright
