// Decides whether a candidate computes what it should.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <tilewright/backend/call.hpp>
#include <tilewright/config.hpp>
#include <tilewright/search/measurement/operands.hpp>
#include <tilewright/search/measurement/runner.hpp>

namespace tilewright::search {

/// Whether a NaN and infinities, where they are what is expected, are as good as each other: order
/// and sign of zeros decide which of them comes out.
enum class non_finite : std::uint8_t { apart, alike };

/// Compares the outputs of two runs on the same inputs, each as runner::outputs gives them. Integers must be
/// equal. Floats may differ by eps * (16 + 4 * sqrt(terms)) of the larger of the value and the output's root mean
/// square, or not at all where `needs` says exact, eps being the distance from 1 to the next value of the type and `terms` the longest reduction; NaN
/// equals NaN, and an infinity only itself, unless non-finite values are alike, where any value will do for an expected
/// infinity.
/// @returns empty, or the first difference in words
std::string compare_outputs(const std::vector<operand>& operands, const value_needs& needs,
                            const std::vector<std::vector<std::byte>>& expected,
                            const std::vector<std::vector<std::byte>>& actual,
                            non_finite kinds = non_finite::apart);

/// Runs code and the interpreter on the arguments of `r` and compares. `f` is the unscheduled function; the
/// caller sees to it that it is small.
/// @param run one call on fresh outputs of `r`
/// @returns empty, or what is wrong
std::string verify_against_interpreter(const ir::function& f, runner& r,
                                       const std::function<measurement()>& run,
                                       non_finite kinds = non_finite::apart);
std::string verify_against_interpreter(const ir::function& f, runner& r,
                                       const backend::loaded& code);

/// Runs the alternatives of `f`, which is small, in the interpreter on the same arguments.
/// @returns empty, or which of them differs from the first and where
std::string compare_alternatives(const ir::function& f, const backend::executor& exec,
                                 std::uint64_t seed);

/// Arithmetic on floats that `f` asks for, calls counted as one; terms of sums that are zero because
/// they read beside padded data do not count. // operations
double operations_of(const ir::function& f);

/// Iterations of all innermost statements of `f`, an upper bound of the interpreter's work.
double work_of(const ir::function& f);

}  // namespace tilewright::search
