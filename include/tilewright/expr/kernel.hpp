// Kernels: `kernel<"name">(lambda)`, the erased form behind them, and what is known of their
// parameters.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/expr/check/report.hpp>
#include <tilewright/expr/reduction.hpp>

namespace tilewright {

/// Dimension of a parameter: a name bound at the call, or a static extent.
struct dim_description {
  std::string name;         // empty when static
  std::int64_t extent = 0;  // elements; 0 when named
  dim_storage storage = dim_storage::dense;
  int index_bits = 0;        // width of offsets and indices
  int group = 1;             // as in meta/dim.hpp
  std::string pattern = {};  // stored_like: the parameter that says what is stored
  part_list parts = {};
  double absent = 0;  // what elements count as that are not stored
};

/// Parameter of a kernel as run-time data.
struct param_info {
  std::string name;
  dtype type = dtype::f32;
  dsl::role role = dsl::role::in;
  std::vector<dim_description> dims;  // [rank]

  int rank() const { return static_cast<int>(dims.size()); }
  /// The kernel writes it: its argument needs to be mutable.
  bool written() const { return role == dsl::role::out || role == dsl::role::inout; }
  /// Only some of its elements are stored: a call hands over offsets, indices and values.
  bool sparse() const {
    for (const dim_description& d : dims)
      if (d.storage != dim_storage::dense) return true;
    return false;
  }
  /// The last dimension of which only some elements are stored; of a dense one the last.
  const dim_description& stored() const {
    for (std::size_t d = dims.size(); d-- > 0;)
      if (dims[d].storage != dim_storage::dense) return dims[d];
    return dims.back();
  }
};

/// A kernel as run-time data: its name and parameters in the order of the call.
struct kernel_info {
  std::string name;
  std::vector<param_info> params;
  std::vector<std::string> dim_names;  // distinct, in order of first occurrence
};

/// A kernel with its types erased; what tuning keeps, and what reify takes. Two kernels of equal
/// content are interchangeable, whatever lambda they came from.
class any_kernel {
 public:
  /// @param storage what params and nodes point to, kept as long as the kernel and its copies; null:
  /// it lives as long as the program
  any_kernel(std::string_view name, std::vector<const dsl::tensor_info*> params,
             std::vector<dsl::node> nodes, std::shared_ptr<const void> storage = nullptr);

  std::string_view name() const noexcept { return name_; }
  /// Parameters in the order of the call; they live as long as this kernel or a copy of it.
  const std::vector<const dsl::tensor_info*>& params() const noexcept { return params_; }
  const std::vector<dsl::node>& nodes() const noexcept { return nodes_; }
  kernel_info info() const;

 private:
  std::string name_;
  std::vector<const dsl::tensor_info*> params_;
  std::vector<dsl::node> nodes_;
  std::shared_ptr<const void> storage_;
};

namespace dsl {

/// Arrays that a call hands over for a parameter; of one that is stored like a matrix in parts there is one for each part.
/// @tparam All parameters of the kernel
template <class Param, class... All>
constexpr int arrays_of_param() {
  int out = Param::array_count;
  if constexpr (Param::on_pattern)
    ((All::info.name == Param::info.pattern() && All::stored_dim.parts.count > 0
          ? void(out = All::stored_dim.parts.count)
          : void()),
     ...);
  return out;
}

/// A kernel: its name and parameters are its type, its N nodes its value. No closure type takes
/// part.
template <class Name, int N, class... Param>
struct kernel_of {
  using name = Name;
  static constexpr int param_count = sizeof...(Param), node_count = N;
  static constexpr int array_count = (0 + ... + arrays_of_param<Param, Param...>());
  static constexpr const tensor_info* params[sizeof...(Param) + 1] = {&Param::info..., nullptr};
  node nodes[N]{};

  operator any_kernel() const {  // NOLINT: a kernel goes wherever an erased one is taken
    return any_kernel(meta::text_of<Name>,
                      std::vector<const tensor_info*>(params, params + param_count),
                      std::vector<node>(nodes, nodes + N));
  }
  kernel_info info() const { return any_kernel(*this).info(); }
};

template <class T>
inline constexpr bool is_kernel = false;
template <class Name, int N, class... Param>
inline constexpr bool is_kernel<kernel_of<Name, N, Param...>> = true;

template <class... T>
inline constexpr bool declares_its_parameters = false;
template <class... T>
inline constexpr bool takes_tensors_by_value = false;
template <class... T>
inline constexpr bool returns_definitions = false;

/// Throws the argument_error that describes `problem`.
[[noreturn]] void throw_mistake(std::string_view kernel, const finding& problem, const node* nodes);

/// @cond
template <class... Param>
struct param_list {};

template <class F>
struct lambda_params;
template <class R, class C, class... Param>
struct lambda_params<R (C::*)(Param...) const> {
  using type = param_list<std::remove_cvref_t<Param>...>;
};
template <class R, class C, class... Param>
struct lambda_params<R (C::*)(Param...)> {
  using type = param_list<std::remove_cvref_t<Param>...>;
};

template <int N, class... Param>
constexpr finding check_nodes(const node (&nodes)[N]) {
  const tensor_info* const params[sizeof...(Param) + 1] = {&Param::info..., nullptr};
  return check_program({nodes, N, params, sizeof...(Param), {}});
}

/// The program of a lambda without captures, evaluated and checked by the compiler.
template <class F, class... Param>
struct checked_program {
  static constexpr auto program = F{}(Param{}...);
  static constexpr finding problem = check_nodes<program.length, Param...>(program.nodes);
};

template <class Name, class F, class... Param>
constexpr auto build_kernel(const F& f, param_list<Param...>) {
  using result = decltype(f(Param{}...));
  if constexpr (!(is_tensor<Param> && ...)) {
    TILEWRIGHT_MISTAKE(takes_tensors_by_value,
                       "tilewright: the lambda of a kernel takes in, out, inout and weight tensors",
                       Param...);
  } else if constexpr (!is_definitions<result>) {
    TILEWRIGHT_MISTAKE(
        returns_definitions,
        "tilewright: the lambda of a kernel returns `tensor(axes) = value` or blocks(...)",
        meta::shown<Name>);
  } else {
    kernel_of<Name, result::length, Param...> out;
    if constexpr (std::is_empty_v<F> && std::is_default_constructible_v<F>) {
      using checked = checked_program<F, Param...>;
      if constexpr (!checked::problem.ok()) report_mistake<checked>();
      for (int k = 0; k < result::length; ++k) out.nodes[k] = checked::program.nodes[k];
    } else {
      const auto program = f(Param{}...);
      const finding problem = check_nodes<result::length, Param...>(program.nodes);
      if (!problem.ok()) throw_mistake(meta::text_of<Name>, problem, program.nodes);
      for (int k = 0; k < result::length; ++k) out.nodes[k] = program.nodes[k];
    }
    return out;
  }
}
/// @endcond

}  // namespace dsl

/// Describes a tensor computation:
///
///     constexpr auto scale = kernel<"scale">([](in<"X", float, "N"> X, out<"Y", float, "N"> Y) {
///       using axes::i;
///       return Y(i) = 2.0f * X(i); });
///
/// The lambda is run once, by the compiler where it has no captures; mistakes are compile-time
/// errors then. With captures (their values become literals) mistakes are thrown.
/// @throws argument_error for a lambda with captures
template <fixed_string Name, class F>
constexpr auto kernel(F f) {
  static_assert(meta::is_identifier(Name.view()),
                "tilewright: the name of a kernel is an identifier");
  if constexpr (!requires { &F::operator(); }) {
    TILEWRIGHT_MISTAKE(
        dsl::declares_its_parameters,
        "tilewright: the lambda of a kernel spells its parameters, in<...> A, out<...> C; "
        "auto does not do",
        meta::shown<meta::to_name<Name>>);
  } else {
    using params = typename dsl::lambda_params<decltype(&F::operator())>::type;
    return dsl::build_kernel<meta::to_name<Name>>(f, params{});
  }
}

}  // namespace tilewright
