// Outputs of a GPU compared where they lie: a kernel that counts the elements which are not as expected.
//
// To copy large outputs to the host, and to look at them with its few cores, takes longer than the calls that
// write them. The kernel is a function like any other: lowered, printed, emulated and compiled as candidates are.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tilewright/backend/artifact.hpp>
#include <tilewright/config.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/search/check/verify.hpp>
#include <tilewright/support/dtype.hpp>

namespace tilewright::search {

/// How one output is compared on a device.
struct output_comparison {
  std::size_t argument = 0;   // number of the parameter
  std::int64_t elements = 0;  // of its memory, with what lies between its rows
  double relative = 0;        // tolerance, of the larger of an expected value and `scale`
  double scale = 0;           // root mean square of the expected values
  backend::artifact code;     // of `comparison_kernel`
};

/// A piece of an argument's memory.
struct argument_piece {
  std::size_t argument = 0;
  std::size_t at = 0, bytes = 0;  // from the first byte of its buffer on
};

/// Whether `comparison_kernel` knows elements of that type, and so many of them.
bool has_comparison_kernel(dtype type, std::int64_t elements);

/// Parts that the elements of an output are counted in.
std::int64_t comparison_parts(std::int64_t elements);

/// A function, scheduled for GPUs, of five buffers: E and X, [elements], what is expected and what came out; R, [2],
/// f64, relative tolerance and scale of an output_comparison; and its results N and F, [parts], i64: how many
/// elements of each part differ as compare_outputs says, and the first of them, `elements` where there is none.
///
/// Requires: 1. has_comparison_kernel(type, elements).
/// @throws argument_error
ir::function comparison_kernel(dtype type, std::int64_t elements,
                               non_finite kinds = non_finite::apart);

}  // namespace tilewright::search
