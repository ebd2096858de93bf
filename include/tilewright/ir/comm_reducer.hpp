// Reducers as values: what the fold of a block combines with, where its statements do not tell.
//
// The update `a * exp(a - x)` of a fold shows how one value joins the accumulators, not how two
// accumulators join each other. A block may therefore keep its reducer in an annotation.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/ir/expr.hpp>

namespace tilewright::ir {

/// Annotation of blocks and loops: the reducer of their reduction as text, its parts in the order
/// of the stores. The reduction may be computed in partial results that it combines.
inline constexpr const char* reducer_note = "tilewright.reducer";

/// A commutative and associative combination of k values with k others.
struct comm_reducer {
  std::vector<expr> identity;  // [k] literals
  std::vector<expr> result;    // [k] made from `reducer_operand`s and literals

  /// What `left` and `right`, k values each, combine to.
  std::vector<expr> combined(const std::vector<expr>& left, const std::vector<expr>& right) const;
};

/// Part `position` of the left values in a result; those of the right ones follow, from k on.
expr reducer_operand(dtype type, std::size_t position);

/// `T.comm_reducer(lambda x0, y0: x0 + y0, [T.float32(0.0)])`; empty when a result is made of
/// anything but operands and literals.
std::string print(const comm_reducer& r);
/// Nothing for a text that is no reducer; any text is safe.
std::optional<comm_reducer> parse_reducer(std::string_view text);

}  // namespace tilewright::ir
