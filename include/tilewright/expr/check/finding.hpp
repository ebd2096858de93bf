// A mistake in a kernel, and what is looked at to find one.
#pragma once

#include <cstdint>
#include <string_view>

#include <tilewright/expr/check/bounds.hpp>

namespace tilewright::dsl {

enum class fault : std::uint8_t {
  none,
  unbound_axis,            // subject: axis, first: tensor that is defined
  reduced_and_left,        // subject: axis, first: tensor
  reduced_twice,           // subject: axis
  reduced_axis_unused,     // subject: axis, first: tensor
  no_extent,               // subject: axis, first: tensor
  extents_differ,          // subject: axis, first, second: tensors, a, b: their extents
  out_of_bounds,           // subject: tensor, a: dimension, at: the load, low, high
  not_bounded,             // subject: tensor, a: dimension, at: the load
  divides_by_zero,         // subject: tensor, at: the division
  read_before_definition,  // subject: tensor
  never_defined,           // subject: tensor
  not_a_parameter,         // subject: tensor
  name_used_twice,         // subject: tensor
  unknown_dimension,       // subject: dimension, first: tensor
  indirect_store,          // subject: tensor
  reads_target_elsewhere,  // subject: tensor
  expectation,             // subject: first dimension in it, at: the condition
  too_many_axes,           // subject: tensor
  walks_no_axis,           // subject: tensor, a: dimension, at: the load
  walks_left_axis,         // subject: axis, first: tensor
  walks_two_patterns,      // subject: axis, first, second: tensors
  needs_what_is_absent,    // subject: tensor, first: axis, at: the reduction
  has_no_pattern,          // subject: tensor, first: the tensor that it is stored like
  merges_one_pattern,      // subject: axis, first: tensor
  merges_differently,      // subject: axis, first, second: tensors
  needs_compressed_rows,   // subject: tensor
  counts_what_is_absent    // subject: tensor, first: axis, at: the reduction
};

struct finding {
  fault what = fault::none;
  std::string_view subject;
  std::string_view first;
  std::string_view second;
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t low = 0;
  std::int64_t high = 0;
  int at = -1;
  axis_scope scope{};
  dim_table dims{};  // extents that were known

  constexpr bool ok() const { return what == fault::none; }
};

/// What is checked: the nodes, the parameters, and the extents known so far.
struct program_view {
  const node* nodes = nullptr;
  int count = 0;
  const tensor_info* const* params = nullptr;
  int param_count = 0;
  dim_table dims;
  bool complete = false;  // dims holds all extents
};

}  // namespace tilewright::dsl
