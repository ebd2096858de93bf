// The arguments of a call: checked against the kernel by the compiler as far as types tell, and
// bound to its dimensions at run time.
#pragma once

#include <cstring>

#include <tilewright/expr/kernel.hpp>
#include <tilewright/expr/matrix_argument.hpp>
#include <tilewright/expr/recognize.hpp>
#include <tilewright/expr/recognize_sparse.hpp>
#include <tilewright/expr/reify.hpp>

namespace tilewright {
namespace dsl {

/// @name Predicates of compile-time errors: false for the offenders they name
/// @{
template <class... T>
inline constexpr bool takes_number_of_arguments = false;
template <class... T>
inline constexpr bool has_value_for_each_place = false;
template <class... T>
inline constexpr bool is_recognized_argument = false;
template <class... T>
inline constexpr bool argument_has_element_type = false;
template <class... T>
inline constexpr bool argument_has_rank = false;
template <class... T>
inline constexpr bool argument_is_mutable = false;
template <class... T>
inline constexpr bool argument_has_extent = false;
template <class... T>
inline constexpr bool is_parameter_name = false;
template <class... T>
inline constexpr bool argument_is_stored_by_rows = false;
template <class... T>
inline constexpr bool argument_has_index_type = false;
template <int N>
struct arguments_given {};
template <int N>
struct arguments_needed {};
/// @}

/// True for numbers that are converted to the scalar parameter Param.
template <class Param, class A>
inline constexpr bool converts_to_scalar =
    Param::rank == 0 && (Param::tensor_role == role::in || Param::tensor_role == role::weight) &&
    !std::is_array_v<std::remove_reference_t<A>> &&
    (std::is_convertible_v<A, typename Param::element> ||
     (is_half<typename Param::element> && std::is_arithmetic_v<std::remove_cvref_t<A>>));

/// @cond
template <class Param, class Form, int D>
constexpr bool check_static_extent() {
  constexpr std::int64_t needed = Param::dims[D].extent, given = Form::static_extent(D);
  if constexpr (needed != 0 && given != 0 && needed != given) {
    TILEWRIGHT_MISTAKE(
        argument_has_extent, "tilewright: an argument needs the static extents of its parameter",
        meta::shown<typename Param::name>, dimension<D>, extent_is<needed>, extent_is<given>);
    return false;
  } else {
    return true;
  }
}
template <class Param, class Form, int... D>
constexpr bool check_static_extents(std::integer_sequence<int, D...>) {
  return (check_static_extent<Param, Form, D>() && ...);
}
/// @endcond

/// @cond
/// Elements of a recognized form are those of the parameter.
template <class Param, class Form>
constexpr bool check_element_type() {
  using given = typename Form::value_type;
  constexpr bool fits = std::is_same_v<canonical<given>, typename Param::element>;
  if constexpr (!fits)
    TILEWRIGHT_MISTAKE(argument_has_element_type,
                       "tilewright: an argument needs the element type of its parameter",
                       meta::shown<typename Param::name>, typename Param::element, given);
  return fits;
}

/// Rows, or columns, between two offsets each.
template <class Form>
concept compressed_form = Form::known &&
    (Form::storage == dim_storage::compressed || Form::storage == dim_storage::csc);
template <class Form, dim_storage Storage, int Group, part_list Parts>
concept form_of_dimension =
    Form::known && Form::storage == Storage&& Form::group == Group&& Form::parts == Parts;
template <class Form, dim_storage Storage>
concept other_order =
    compressed_form<Form> && Storage == dim_storage::compressed && !Form::row_major;
/// The values of a tensor of `Rank` dimensions on a pattern: a dimension of places, and those behind.
template <class Form, int Rank>
concept values_of_pattern = Form::known && Form::has_rank(Rank - 1);

/// The same for a parameter with a compressed dimension.
template <class Param, class A>
constexpr bool check_sparse_argument() {
  using object = std::remove_reference_t<A>;
  using form = sparse_recognized<object>;
  if constexpr (other_order<form, Param::storage>) {
    TILEWRIGHT_MISTAKE(
        argument_is_stored_by_rows,
        "tilewright: a compressed dimension after the rows needs a matrix stored by "
        "rows; pass an Eigen::SparseMatrix<T, Eigen::RowMajor>, or declare csc<\"K\">",
        meta::shown<typename Param::name>, object);
    return false;
  } else if constexpr (!form_of_dimension<form, Param::storage, Param::stored_dim.group,
                                          Param::stored_dim.parts>) {
    matrix_argument<Param::storage>::template refuse<typename Param::name, object>();
    return false;
  } else if constexpr (!check_element_type<Param, form>()) {
    return false;
  } else if constexpr (form::rank != Param::rank) {
    TILEWRIGHT_MISTAKE(argument_has_rank, "tilewright: an argument needs the rank of its parameter",
                       meta::shown<typename Param::name>, rank_needed<Param::rank>, object);
    return false;
  } else if constexpr (8 * sizeof(typename form::index_type) !=
                       static_cast<std::size_t>(Param::stored_dim.index_bits)) {
    TILEWRIGHT_MISTAKE(argument_has_index_type,
                       "tilewright: a sparse argument needs the index type of its parameter; write "
                       "it as compressed<\"K\", std::int64_t>, or std::int32_t",
                       meta::shown<typename Param::name>, typename form::index_type);
    return false;
  } else {
    return true;
  }
}
/// @endcond

/// @cond
/// Values of a sparse matrix that the kernel may write.
template <class A>
concept mutable_values = requires(A& a) {
  *a.valuePtr() = typename A::Scalar();
}
|| requires(A& a) { *a.values = std::remove_reference_t<decltype(*a.values)>(); };

template <class Param, class Form, bool Mutable>
constexpr bool check_values() {
  if constexpr (!check_element_type<Param, Form>()) {
    return false;
  } else if constexpr (!Mutable &&
                       (Param::tensor_role == role::out || Param::tensor_role == role::inout)) {
    TILEWRIGHT_MISTAKE(argument_is_mutable,
                       "tilewright: the argument of an output needs to be mutable",
                       meta::shown<typename Param::name>);
    return false;
  } else {
    return true;
  }
}

/// A parameter on the pattern of another one: a vector of values, or a matrix with that pattern.
template <class Param, class A>
constexpr bool check_pattern_argument() {
  using object = std::remove_reference_t<A>;
  using form = recognized<object>;
  using matrix = sparse_recognized<object>;
  if constexpr (compressed_form<matrix> && Param::rank == 2) {
    if constexpr (!matrix::row_major) {
      TILEWRIGHT_MISTAKE(argument_is_stored_by_rows,
                         "tilewright: a compressed dimension after the rows needs a matrix stored "
                         "by rows; pass an Eigen::SparseMatrix<T, Eigen::RowMajor>",
                         meta::shown<typename Param::name>, object);
      return false;
    } else {
      return check_values<Param, matrix, mutable_values<object>>();
    }
  } else if constexpr (values_of_pattern<form, Param::rank>) {
    return check_values<Param, form, !form::is_const>();
  } else {
    matrix_argument<Param::storage>::template refuse<typename Param::name, object>();
    return false;
  }
}
/// @endcond

/// @cond
/// Formats whose places have values of their own where something is stored like a matrix in one of them.
constexpr bool has_places(dim_storage storage) {
  return storage == dim_storage::bsr || storage == dim_storage::ell ||
         storage == dim_storage::dcsr || storage == dim_storage::parts;
}

/// Values for the places of a matrix in a format (expr/formats/values_like.hpp).
template <class A>
concept values_of_places = requires(A& a) {
  typename A::value_type;
  A::storage;
  A::group;
  A::parts;
  a.arguments();
  a.elements();
};

/// The same of a parameter on the pattern of a matrix in another format than compressed rows.
template <class Param, class Pattern, class A>
constexpr bool check_places_argument() {
  using object = std::remove_reference_t<A>;
  constexpr bool fits = [] {
    if constexpr (values_of_places<object>)
      return object::storage == Pattern::storage && object::group == Pattern::stored_dim.group &&
             object::parts == Pattern::stored_dim.parts &&
             std::is_same_v<typename object::value_type, typename Param::element> &&
             (Param::tensor_role == role::in || !std::is_const_v<object>);
    return false;
  }();
  if constexpr (!fits)
    TILEWRIGHT_MISTAKE(
        has_value_for_each_place,
        "tilewright: a parameter stored_like a matrix in bsr, ell, dcsr or parts has "
        "a value for each place of it; pass a values_like<T, format> of the matrix, "
        "and store() gives the elements in order",
        meta::shown<typename Param::name>, object);
  return fits;
}
/// @endcond

/// Checks one argument against its parameter; true when it fits.
template <class Param, class A>
constexpr bool check_argument() {
  using object = std::remove_reference_t<A>;
  using form = recognized<object>;
  if constexpr (Param::on_pattern) {
    return check_pattern_argument<Param, A>();
  } else if constexpr (Param::is_sparse) {
    return check_sparse_argument<Param, A>();
  } else if constexpr (converts_to_scalar<Param, A>) {
    return true;
  } else if constexpr (!form::known) {
    TILEWRIGHT_MISTAKE(
        is_recognized_argument,
        "tilewright: an argument is no Eigen object with storage, span, mdspan, array, "
        "vector, view(pointer, {extents}, {strides}) or scalar; convert it",
        meta::shown<typename Param::name>, object);
    return false;
  } else if constexpr (!check_element_type<Param, form>()) {
    return false;
  } else if constexpr (!form::has_rank(Param::rank)) {
    TILEWRIGHT_MISTAKE(argument_has_rank, "tilewright: an argument needs the rank of its parameter",
                       meta::shown<typename Param::name>, rank_needed<Param::rank>, object);
    return false;
  } else if constexpr (form::is_const &&
                       (Param::tensor_role == role::out || Param::tensor_role == role::inout)) {
    TILEWRIGHT_MISTAKE(argument_is_mutable,
                       "tilewright: the argument of an output needs to be mutable",
                       meta::shown<typename Param::name>, object);
    return false;
  } else {
    return check_static_extents<Param, form>(std::make_integer_sequence<int, Param::rank>{});
  }
}

/// @cond
/// The same where the parameter is one of `All`.
template <class Param, class A, class... All>
constexpr bool check_argument_among() {
  bool out = true;
  constexpr bool placed =
      Param::on_pattern &&
      ((All::info.name == Param::info.pattern() && has_places(All::storage)) || ...);
  if constexpr (placed) {
    const auto check = [&]<class Pattern>(std::type_identity<Pattern>) {
      if constexpr (Pattern::info.name == Param::info.pattern())
        out = check_places_argument<Param, Pattern, A>();
    };
    (check(std::type_identity<All>{}), ...);
  } else {
    out = check_argument<Param, A>();
  }
  return out;
}

template <class... A>
struct argument_types {};

template <class Name, int N, class... Param, class... A>
constexpr bool check_call_of(const kernel_of<Name, N, Param...>*, argument_types<A...>) {
  if constexpr (sizeof...(Param) != sizeof...(A)) {
    TILEWRIGHT_MISTAKE(takes_number_of_arguments,
                       "tilewright: a call needs one argument per parameter of the kernel",
                       meta::shown<Name>, arguments_given<sizeof...(A)>,
                       arguments_needed<sizeof...(Param)>);
    return false;
  } else {
    return (check_argument_among<Param, A, Param...>() && ...);
  }
}
/// @endcond

/// Compile-time check of a call: number of arguments, and for each its form, element type, rank,
/// constness, and static extents. `Args` are the deduced types of forwarding references. Mistakes
/// are errors that name the parameter; true when there is none.
template <class Kernel, class... Args>
constexpr bool check_call() {
  return check_call_of(static_cast<const Kernel*>(nullptr), argument_types<Args...>{});
}

/// The run-time form of one checked argument. A scalar input is converted and kept by value.
template <class Param, class A>
argument make_argument(A&& a) {
  if constexpr (converts_to_scalar<Param, A>) {
    argument out;
    using T = typename Param::element;
    T value{};
    if constexpr (is_half<T> && std::is_arithmetic_v<std::remove_cvref_t<A>>)
      value = T(static_cast<float>(a));
    else
      value = static_cast<T>(a);
    out.type = dtype_of<T>;
    out.is_const = true;
    std::memcpy(out.value.data(), &value, sizeof value);
    return out;
  } else {
    return recognized<std::remove_reference_t<A>>::make(a, Param::rank);
  }
}

/// Offsets and indices of a matrix that is given for `param`, compared with those of the parameter
/// whose pattern it has.
/// @throws argument_error naming the first difference
void check_same_pattern(const tensor_info& param, const argument* own, const argument* of);

/// @throws argument_error for a matrix whose padding is read and is not what its parameter counts as absent
[[noreturn]] void refuse_padding(const tensor_info& param);

/// @cond
/// Whether places that hold no element are read as those that do.
constexpr bool reads_padding(const part_format& f) {
  return f.storage == dim_storage::bsr || f.storage == dim_storage::dia;
}
constexpr bool reads_padding(const part_list& f) {
  for (int k = 0; k < f.count; ++k)
    if (reads_padding(f.at[k])) return true;
  return false;
}

template <class Param, class A>
void check_padding(const A& a) {
  if constexpr (requires { a.absent(); })
    if constexpr (reads_padding(A::format))
      if (a.absent() != element_value<typename Param::element>(Param::info.absent()))
        refuse_padding(Param::info);
}

template <class... Param>
struct param_types {};

/// Writes the arrays of one checked argument and moves `to` behind them.
template <class Param, class A>
void put_arguments(A& a, argument*& to) {
  if constexpr (Param::on_pattern && values_of_places<A>) {
    for (const argument& one : a.arguments()) *to++ = one;
  } else if constexpr (Param::on_pattern) {
    if constexpr (compressed_form<sparse_recognized<A>>) {
      *to = sparse_recognized<A>::make(a, Param::info.name.data())[2];
      to->is_const = !mutable_values<A>;
      ++to;
    } else {
      *to++ = recognized<A>::make(a, Param::rank - 1);
    }
  } else if constexpr (Param::is_sparse) {
    check_padding<Param>(a);
    const auto arrays = sparse_recognized<A>::make(a, Param::info.name.data());
    for (const argument& one : arrays) *to++ = one;
  } else {
    *to++ = make_argument<Param>(a);
  }
}

/// A matrix given for a parameter that is stored like another one, whose arrays are among `all`.
template <class Param, class A, class... All>
void check_pattern_of(A& a, const argument* all, param_types<All...>) {
  if constexpr (Param::on_pattern) {
    if constexpr (compressed_form<sparse_recognized<A>>) {
      const auto own = sparse_recognized<A>::make(a, Param::info.name.data());
      std::size_t at = 0;
      bool before = true;
      ((before = before && All::info.name != Param::info.pattern(),
        at += before ? static_cast<std::size_t>(arrays_of_param<All, All...>()) : 0),
       ...);
      check_same_pattern(Param::info, own.data(), all + at);
    }
  }
}

template <class Name, int N, class... Param, class... A>
auto make_arguments_of(const kernel_of<Name, N, Param...>*, A&&... a) {
  std::array<argument, static_cast<std::size_t>((0 + ... + arrays_of_param<Param, Param...>()))>
      out;
  [[maybe_unused]] argument* to = out.data();
  (put_arguments<Param>(a, to), ...);
  (check_pattern_of<Param>(a, out.data(), param_types<Param...>{}), ...);
  return out;
}

/// Number of the first array of the parameter at `position`.
template <class Name, int N, class... Param>
constexpr std::size_t first_array_of(const kernel_of<Name, N, Param...>*, int position) {
  constexpr int arrays[] = {arrays_of_param<Param, Param...>()..., 0};
  std::size_t out = 0;
  for (int k = 0; k < position; ++k) out += static_cast<std::size_t>(arrays[k]);
  return out;
}

template <class Wanted, class Name, int N, class... Param>
constexpr int param_index_of(const kernel_of<Name, N, Param...>*) {
  constexpr bool is_it[] = {std::is_same_v<typename Param::name, Wanted>..., false};
  for (int k = 0; k < static_cast<int>(sizeof...(Param)); ++k)
    if (is_it[k]) return k;
  return -1;
}
/// @endcond

/// Arguments of a call in the order of the parameters, a sparse one as offsets, indices and values;
/// the call has passed check_call.
/// @throws argument_error for a sparse matrix that is not compressed
template <class Kernel, class... A>
auto make_arguments(A&&... a) {
  return make_arguments_of(static_cast<const Kernel*>(nullptr), a...);
}

template <class Name, int N, class... Param>
constexpr void refuse_parameter(const kernel_of<Name, N, Param...>*, auto* no_such) {
  TILEWRIGHT_MISTAKE(is_parameter_name,
                     "tilewright: the kernel has no parameter of this name; write one of those "
                     "that follow it",
                     meta::shown<std::remove_pointer_t<decltype(no_such)>>,
                     meta::shown<typename Param::name>...);
}

/// Position of the parameter `Name`, a compile-time error when there is none.
template <class Kernel, fixed_string Name>
constexpr int param_index() {
  constexpr int k = param_index_of<meta::to_name<Name>>(static_cast<const Kernel*>(nullptr));
  if constexpr (k < 0)
    refuse_parameter(static_cast<const Kernel*>(nullptr),
                     static_cast<meta::to_name<Name>*>(nullptr));
  return k;
}

}  // namespace dsl

/// Extents of the kernel's named dimensions, taken from the arguments.
///
/// It requires: 1) one argument per parameter, of its element type and rank; 2) arguments that
/// share a dimension agree on its extent; 3) static extents are met; 4) extents are positive and
/// data pointers not null; 5) arguments of outputs are mutable.
/// @throws argument_error that names the parameters concerned
dim_values bind_extents(const kernel_info& kernel, const dsl::argument* args, std::size_t count);

}  // namespace tilewright
