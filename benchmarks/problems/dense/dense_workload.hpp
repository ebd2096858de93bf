// The workloads that bench_workloads compares libraries on: a kernel for Tilewright, a plain nest in C, and what peers
// are asked for.
#pragma once

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "../../peers/dense_peer.hpp"
#include "../fields/field_problem.hpp"

namespace bench {

/// One workload. `problem.tuned` takes all arguments at each call.
struct dense_workload {
  std::string set;  // twelve, nchw, beyond or winograd
  field_problem problem;
  /// A call whose weights were bound beforehand; empty: it has none.
  std::function<std::function<void()>(addresses, const tilewright::tuned_options&)> bound;
  dense_shape shape;
  double flops = 0;  // those whose operands lie in the data
  double bytes = 0;  // of all arguments once
  int terms = 1;     // of the longest reduction
  double error = 0;  // that the kernel allows, over the largest result; 0: what its sums round
};

/// The paper's twelve; its convolutions with channels first and those of ResNet-50; what else users run; and
/// convolutions that allow the rounding of Winograd's algorithm, beside the same without. Adding
/// one is a line of convolutions.cpp, or of workloads.cpp.
std::vector<dense_workload> dense_workloads();

namespace dense {

using fields::drawn;
using fields::parameter;
using fields::range;
using fields::result;

/// A parameter that a kernel declares as a weight.
template <tw::fixed_string Name, class T, std::size_t Rank>
struct weight_parameter : parameter<T, Rank> {};

template <class P>
struct weight_name {
  static constexpr bool known = false;
};
template <tw::fixed_string Name, class T, std::size_t Rank>
struct weight_name<weight_parameter<Name, T, Rank>> {
  static constexpr bool known = true;
  template <class Op, class Value>
  static auto bind(const Op& op, Value&& value) {
    return op.template with<Name>(value);
  }
};

template <tw::fixed_string Name, class T, class... E>
weight_parameter<Name, T, sizeof...(E)> weight(const char* name, E... extents) {
  return {{name, {extents...}, -1, 1, false}};
}

/// The op with each weight bound to its argument.
template <std::size_t I = 0, class Op, class... P>
auto with_weights(const Op& op, addresses at, const std::tuple<P...>& all) {
  if constexpr (I == sizeof...(P)) {
    return op;
  } else if constexpr (weight_name<std::tuple_element_t<I, std::tuple<P...>>>::known) {
    using name = weight_name<std::tuple_element_t<I, std::tuple<P...>>>;
    return with_weights<I + 1>(name::bind(op, fields::passed(std::get<I>(all), at[I])), at, all);
  } else {
    return with_weights<I + 1>(op, at, all);
  }
}

/// Calls f with what a call brings: the arguments beside the weights.
template <std::size_t I = 0, class F, class Tuple, class... Given>
void call_without_weights(const F& f, addresses at, const Tuple& all, Given&&... given) {
  if constexpr (I == std::tuple_size_v<Tuple>)
    f(given...);
  else if constexpr (weight_name<std::tuple_element_t<I, Tuple>>::known)
    call_without_weights<I + 1>(f, at, all, given...);
  else
    call_without_weights<I + 1>(f, at, all, given..., fields::passed(std::get<I>(all), at[I]));
}

/// A workload; its bytes follow from the parameters.
template <class Kernel, class... P>
dense_workload make(std::string set, std::string name, const Kernel& kernel,
                    const std::string& body, dense_shape shape, double flops, int terms, P... p) {
  dense_workload out;
  out.set = std::move(set);
  out.problem = fields::make(std::move(name), kernel, body, {}, p...);
  out.shape = std::move(shape);
  out.flops = flops;
  out.terms = terms;
  for (const field_argument& a : out.problem.arguments) {
    double size = a.type == "f64" ? 8 : 4;
    for (const std::int64_t e : a.extents) size *= static_cast<double>(e);
    out.bytes += size;
  }
  if constexpr ((weight_name<P>::known || ...))
    out.bound = [=, all = std::make_tuple(p...)](addresses at, const tw::tuned_options& o) {
      const auto op = with_weights(tw::tuned(kernel, o), at, all);
      return std::function<void()>([=] { call_without_weights(op, at, all); });
    };
  return out;
}

void add_convolutions(std::vector<dense_workload>& to);

}  // namespace dense
}  // namespace bench
