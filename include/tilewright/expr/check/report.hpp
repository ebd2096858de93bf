// From a finding to a compile-time error that names the offender.
#pragma once

#include <tilewright/expr/check/checks.hpp>
#include <tilewright/meta/mistake.hpp>
#include <tilewright/meta/name.hpp>

namespace tilewright::dsl {

/// @name Predicates of compile-time errors: false for the offenders they name
/// @{
template <class... T>
inline constexpr bool axis_is_bound = false;
template <class... T>
inline constexpr bool axis_is_reduced_or_left = false;
template <class... T>
inline constexpr bool axis_is_reduced_once = false;
template <class... T>
inline constexpr bool reduced_axis_is_used = false;
template <class... T>
inline constexpr bool axis_has_extent = false;
template <class... T>
inline constexpr bool extents_agree = false;
template <class... T>
inline constexpr bool read_is_in_bounds = false;
template <class... T>
inline constexpr bool divisor_is_not_zero = false;
template <class... T>
inline constexpr bool is_defined_before_read = false;
template <class... T>
inline constexpr bool output_is_defined = false;
template <class... T>
inline constexpr bool is_parameter_of_kernel = false;
template <class... T>
inline constexpr bool name_is_used_once = false;
template <class... T>
inline constexpr bool dimension_is_known = false;
template <class... T>
inline constexpr bool stores_at_affine_indices = false;
template <class... T>
inline constexpr bool reads_target_where_it_writes = false;
template <class... T>
inline constexpr bool extents_are_as_expected = false;
template <class... T>
inline constexpr bool has_few_axes = false;
template <class... T>
inline constexpr bool sparse_tensor_is_indexed_by_axes = false;
template <class... T>
inline constexpr bool walked_axis_is_reduced = false;
template <class... T>
inline constexpr bool one_pattern_is_walked = false;
template <class... T>
inline constexpr bool absent_elements_add_nothing = false;
template <class... T>
inline constexpr bool absent_elements_change_nothing = false;
template <class... T>
inline constexpr bool is_stored_like_an_input = false;
template <class... T>
inline constexpr bool several_patterns_are_merged = false;
template <class... T>
inline constexpr bool patterns_are_merged_in_one_way = false;
template <class... T>
inline constexpr bool is_stored_in_compressed_rows = false;
template <std::int64_t N>
struct extent_is {};
template <std::int64_t N>
struct dimension {};
template <std::int64_t Low, std::int64_t High>
struct index_runs_over {};
/// @}

/// @cond
template <class Checked>
struct subject_text {
  static constexpr std::string_view value = Checked::problem.subject;
};
template <class Checked>
struct first_text {
  static constexpr std::string_view value = Checked::problem.first;
};
template <class Checked>
struct second_text {
  static constexpr std::string_view value = Checked::problem.second;
};
/// @endcond

/// Instantiated only when `Checked::problem`, a static constexpr finding, holds a mistake.
template <class Checked>
constexpr void report_mistake() {
  constexpr finding f = Checked::problem;
  using subject = meta::shown<meta::name_from<subject_text<Checked>>>;
  using first = meta::shown<meta::name_from<first_text<Checked>>>;
  using second = meta::shown<meta::name_from<second_text<Checked>>>;
  if constexpr (f.what == fault::unbound_axis) {
    TILEWRIGHT_MISTAKE(
        axis_is_bound,
        "tilewright: an axis needs to stand on the left side or be reduced; add it to "
        "one of them",
        subject);
  } else if constexpr (f.what == fault::reduced_and_left) {
    TILEWRIGHT_MISTAKE(axis_is_reduced_or_left,
                       "tilewright: an axis on the left side cannot be reduced; take another axis "
                       "for the reduction",
                       subject);
  } else if constexpr (f.what == fault::reduced_twice) {
    TILEWRIGHT_MISTAKE(axis_is_reduced_once,
                       "tilewright: nested reductions need different axes; rename one", subject);
  } else if constexpr (f.what == fault::reduced_axis_unused) {
    TILEWRIGHT_MISTAKE(reduced_axis_is_used,
                       "tilewright: a reduced axis needs to occur in the reduced value; drop it or "
                       "use it",
                       subject);
  } else if constexpr (f.what == fault::no_extent) {
    TILEWRIGHT_MISTAKE(axis_has_extent,
                       "tilewright: an axis needs a plain index that tells its extent; write "
                       "axis<\"r\", 3>",
                       subject);
  } else if constexpr (f.what == fault::extents_differ) {
    TILEWRIGHT_MISTAKE(extents_agree,
                       "tilewright: an axis runs over dimensions of different static extents; make "
                       "them equal, or index a part as i + 0",
                       subject, first, extent_is<f.a>, second, extent_is<f.b>);
  } else if constexpr (f.what == fault::out_of_bounds) {
    TILEWRIGHT_MISTAKE(read_is_in_bounds,
                       "tilewright: an index leaves the tensor; read through zero_outside, "
                       "clamp_outside or mirror_outside",
                       subject, dimension<f.a>, index_runs_over<f.low, f.high>, extent_is<f.b>);
  } else if constexpr (f.what == fault::divides_by_zero) {
    TILEWRIGHT_MISTAKE(divisor_is_not_zero,
                       "tilewright: an index or integer is divided by what can be zero", subject);
  } else if constexpr (f.what == fault::read_before_definition) {
    TILEWRIGHT_MISTAKE(is_defined_before_read,
                       "tilewright: a tensor is read before it is defined; add its definition to "
                       "blocks(...), or move it up",
                       subject);
  } else if constexpr (f.what == fault::never_defined) {
    TILEWRIGHT_MISTAKE(output_is_defined,
                       "tilewright: an output needs a definition; write `tensor(axes) = value`",
                       subject);
  } else if constexpr (f.what == fault::not_a_parameter) {
    TILEWRIGHT_MISTAKE(
        is_parameter_of_kernel,
        "tilewright: a tensor that is no parameter of the kernel is used; declare it "
        "temp, or add it to the parameters",
        subject);
  } else if constexpr (f.what == fault::name_used_twice) {
    TILEWRIGHT_MISTAKE(name_is_used_once,
                       "tilewright: two tensors of a kernel have one name; rename one", subject);
  } else if constexpr (f.what == fault::unknown_dimension) {
    TILEWRIGHT_MISTAKE(
        dimension_is_known,
        "tilewright: the name of a dimension needs to occur in a parameter, which binds it",
        subject);
  } else if constexpr (f.what == fault::indirect_store) {
    TILEWRIGHT_MISTAKE(stores_at_affine_indices,
                       "tilewright: the left side needs sums of axes and constants as indices",
                       subject);
  } else if constexpr (f.what == fault::reads_target_elsewhere) {
    TILEWRIGHT_MISTAKE(
        reads_target_where_it_writes,
        "tilewright: a definition reads other elements of its own target, a recurrence, "
        "which needs an order of its steps; a kernel has none: read a temp, or an argument that "
        "holds the step before, and loop over steps around the call",
        subject);
  } else if constexpr (f.what == fault::expectation) {
    TILEWRIGHT_MISTAKE(extents_are_as_expected,
                       "tilewright: the static extents break a condition that the kernel expects",
                       subject);
  } else if constexpr (f.what == fault::walks_no_axis) {
    TILEWRIGHT_MISTAKE(sparse_tensor_is_indexed_by_axes,
                       "tilewright: a sparse tensor is indexed by plain axes; write A(i, k)",
                       subject, dimension<f.a>);
  } else if constexpr (f.what == fault::walks_left_axis) {
    TILEWRIGHT_MISTAKE(
        walked_axis_is_reduced,
        "tilewright: an axis over a compressed dimension walks what is stored: it is "
        "reduced, sum<k>(A(i, k) * ..), or the result is stored_like the tensor",
        subject, first);
  } else if constexpr (f.what == fault::walks_two_patterns) {
    TILEWRIGHT_MISTAKE(one_pattern_is_walked,
                       "tilewright: an axis walks what is stored of one sparse tensor; write "
                       "intersect(..) or unite(..) around the value, or looked_up(B)(i, k)",
                       subject, first, second);
  } else if constexpr (f.what == fault::needs_what_is_absent) {
    TILEWRIGHT_MISTAKE(absent_elements_add_nothing,
                       "tilewright: a reduction over a compressed dimension is a sum with the "
                       "sparse tensor as a factor, or over where_stored(A)(i, k)",
                       subject, first);
  } else if constexpr (f.what == fault::counts_what_is_absent) {
    TILEWRIGHT_MISTAKE(absent_elements_change_nothing,
                       "tilewright: a reduction over a compressed dimension leaves absent elements "
                       "out where they change nothing: a minimum of A(i, k) + x where absent_as "
                       "says infinity, a maximum where it says -infinity, or any over "
                       "where_stored(A)(i, k)",
                       subject, first);
  } else if constexpr (f.what == fault::has_no_pattern) {
    TILEWRIGHT_MISTAKE(
        is_stored_like_an_input,
        "tilewright: stored_like<\"N\", \"A\"> names an input with a compressed "
        "dimension, or in bsr, ell, dcsr or parts of these, and stands after the same "
        "dimensions as that one",
        subject, first);
  } else if constexpr (f.what == fault::merges_one_pattern) {
    TILEWRIGHT_MISTAKE(several_patterns_are_merged,
                       "tilewright: intersect and unite merge what several sparse tensors store "
                       "along an axis; write A(i, k) alone for one",
                       subject, first);
  } else if constexpr (f.what == fault::merges_differently) {
    TILEWRIGHT_MISTAKE(
        patterns_are_merged_in_one_way,
        "tilewright: all sparse tensors that walk an axis stand in one intersect(..) "
        "or in one unite(..); read others as looked_up(B)(i, k)",
        subject, first, second);
  } else if constexpr (f.what == fault::needs_compressed_rows) {
    TILEWRIGHT_MISTAKE(is_stored_in_compressed_rows,
                       "tilewright: intersect, unite and looked_up read compressed rows; declare "
                       "the tensor with compressed<\"K\">",
                       subject);
  } else {
    TILEWRIGHT_MISTAKE(has_few_axes, "tilewright: a definition has more than 24 axes; split it",
                       first);
  }
}

}  // namespace tilewright::dsl
