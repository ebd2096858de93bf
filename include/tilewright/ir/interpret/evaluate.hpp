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
#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/ir/stmt.hpp>

namespace tilewright::ir {

/// An element of an output in double.
struct point_value {
  double value = 0;
  double error = 0;  // bound of what the program's own rounding may do to a float
  bool decided =
      true;  // false: a comparison, a step or a cast to an integer on the way goes either
             // way within the rounding before it; the jumps are part of `error`
};

/// Evaluates elements of what an unscheduled function writes.
/// 1. Floats are computed in double throughout, whatever their type; float literals have the value
///    that their type gives them. Integers wrap at their width; casts from floats to integers
///    truncate and saturate.
/// 2. A block is a list of stores in different buffers, after lets. It reads what it writes only
///    where it writes it: the accumulators of a reduction, or elements that it updates. Several
///    blocks may write one buffer; each finds it as those before left it.
/// 3. Store indices that are sums of iteration variables are solved; others are run for all
///    iterations once, up to 2^20 of them. No two iterations of a block store one element.
///    A block may stand in a nest of its own inside of another one, as for the rows of a sparse matrix.
/// 4. Extents are literals; data may say how many iterations are added up. Blocks that share loops do not write in turn what both touch.
/// Elements of temporaries are remembered. Not thread-safe.
class point_evaluator {
 public:
  /// Nodes of expressions that one object evaluates in all, unless told otherwise: about a tenth of
  /// a second.
  static constexpr std::int64_t default_budget = 10'000'000;

  /// @param args one per parameter, as for `interpret`, with what it holds before the function
  /// runs; a parameter of which nothing is read before it is written needs no memory
  /// @throws argument_error when `refusal(f)` is not empty or an input has no memory
  point_evaluator(const function& f, const std::vector<tensor_view>& args,
                  std::int64_t budget = default_budget);
  ~point_evaluator();
  point_evaluator(const point_evaluator&) = delete;
  point_evaluator& operator=(const point_evaluator&) = delete;

  /// Why `f` is not supported; empty when it is.
  static std::string refusal(const function& f);

  /// Element `index` of parameter number `param`; nothing when the budget is used up, or when the
  /// element depends on a read out of bounds, on an integer division by zero, or on one that
  /// several iterations store.
  /// @throws argument_error when the parameter is no output or `index` lies outside of it
  std::optional<point_value> value(std::size_t param, const std::vector<std::int64_t>& index);

  /// The budget is used up.
  bool exhausted() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace tilewright::ir
