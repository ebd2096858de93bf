// What the rounding of a kernel's own arithmetic may do to single results.
//
// A tolerance for all elements of an output knows how long sums are, not that two nearly equal numbers were
// subtracted and something was divided by the rest: there every schedule rounds to another value, and none is wrong.
// Asked for where results differ by more than the tolerance, since a bound costs more than the result.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <tilewright/impl/ir/interpret/evaluate_number.hpp>
#include <tilewright/impl/search/measurement/elements.hpp>
#include <tilewright/ir/interpret/evaluate.hpp>
#include <tilewright/search/measurement/runner.hpp>

namespace tilewright::search::detail {

/// Bounds of the rounding in results of one kernel on one set of arguments. Not thread-safe.
class rounding_bounds {
 public:
  /// @param f the unscheduled function; it and `r`, which has its arguments, outlive the object
  rounding_bounds(const ir::function& f, const runner& r)
      : function_(f),
        runner_(r),
        share_(1 / std::sqrt(std::max(1.0, static_cast<double>(needs_of(f).reduction)))) {}

  /// Whether both values of an element are results that the kernel's arithmetic may round to, in any order of its
  /// terms. A bound grows with the number of terms, rounding with its root, as the tolerance does: of long sums that share
  /// of the bound counts, or a sum that lacks some of its terms would pass. What cannot be evaluated in about a second in
  /// all is not allowed.
  /// @param operand number of the parameter
  /// @param position of the element, row-major
  /// @param tolerance beside the bound
  bool allow(std::size_t operand, std::int64_t position, double a, double b, double tolerance) {
    const std::optional<ir::point_value> v = value(operand, position);
    if (!v || !(v->error < HUGE_VAL)) return false;
    const double most = tolerance + share_ * ir::detail::point::reordering * v->error;
    return std::abs(a - v->value) <= most && std::abs(b - v->value) <= most;
  }

 private:
  std::optional<ir::point_value> value(std::size_t operand, std::int64_t position) {
    const auto [at, added] = known_.try_emplace({operand, position});
    if (added && evaluator()) {
      const std::vector<std::int64_t> index =
          unflatten(position, runner_.operands()[operand].extents);
      at->second = evaluator_->value(operand, index);
    }
    return at->second;
  }
  /// null: the function has no single elements that can be evaluated
  ir::point_evaluator* evaluator() {
    constexpr std::int64_t budget = 100'000'000;  // about a second
    if (!asked_) {
      asked_ = true;
      if (ir::point_evaluator::refusal(function_).empty())
        evaluator_.emplace(function_, as_sealed(), budget);
    }
    return evaluator_ ? &*evaluator_ : nullptr;
  }
  /// The arguments as they are before a call.
  std::vector<ir::tensor_view> as_sealed() const {
    std::vector<ir::tensor_view> out;
    const argument_memory& memory = runner_.memory();
    for (std::size_t i = 0; i < memory.places().size(); ++i) {
      const std::byte* first = memory.sealed(i) + memory.places()[i].element0;
      out.push_back({const_cast<std::byte*>(first), runner_.layouts()[i].strides});
    }
    return out;
  }

  const ir::function& function_;
  const runner& runner_;
  double share_;  // of a bound
  bool asked_ = false;
  std::optional<ir::point_evaluator> evaluator_;
  std::map<std::pair<std::size_t, std::int64_t>, std::optional<ir::point_value>> known_;
};

}  // namespace tilewright::search::detail
