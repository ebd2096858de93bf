// Single elements of a program's outputs, computed in double.
//
// The interpreter runs a whole program at the precision it is written in. This goes backwards from
// an element that somebody asks for to the elements it depends on, so a few points of a program far
// too large for the interpreter cost little, and what rounding did to the program shows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/ir/interpret.hpp>
#include <tilewright/ir/stmt.hpp>

namespace tilewright::ir {

/// Evaluates elements of what an unscheduled function writes.
/// 1. Floats are computed in double throughout, whatever their type; float literals have the value
///    that their type gives them. Integers wrap at their width; casts from floats to integers
///    truncate and saturate.
/// 2. Every buffer is written by one block, with one store whose indices are the block's spatial
///    iteration variables; a block reads what it writes only as the accumulator of a reduction with
///    `init`.
/// 3. Extents are literals, and no parameter is both read and written.
/// Elements of temporaries are remembered. Not thread-safe.
class point_evaluator {
 public:
  /// Nodes of expressions that one object evaluates in all, unless told otherwise: about a tenth of
  /// a second.
  static constexpr std::int64_t default_budget = 10'000'000;

  /// @param args one per parameter, as for `interpret`; memory of outputs is not touched
  /// @throws argument_error when `refusal(f)` is not empty or an input has no memory
  point_evaluator(const function& f, const std::vector<tensor_view>& args,
                  std::int64_t budget = default_budget);
  ~point_evaluator();
  point_evaluator(const point_evaluator&) = delete;
  point_evaluator& operator=(const point_evaluator&) = delete;

  /// Why `f` is not supported; empty when it is.
  static std::string refusal(const function& f);

  /// Element `index` of parameter number `param`; nothing when the budget is used up, or when the
  /// element depends on a read out of bounds or an integer division by zero.
  /// @throws argument_error when the parameter is no output or `index` lies outside of it
  std::optional<double> value(std::size_t param, const std::vector<std::int64_t>& index);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace tilewright::ir
