// Reducers: the commutative combinations that rfactor and pad_einsum may rely on.
//
// A block with an init promises that its reduce instances may run in any order. That is less than
// rfactor needs: partial results are combined with each other, so the combination must be
// associative with the init as identity. An annotation of the block says so (ir/comm_reducer.hpp),
// or a table of known reducers does.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/ir/stmt.hpp>

namespace tilewright {

/// A commutative, associative combination of k values with its identity.
///
/// Both functions are asked with the types of the k results, so one reducer serves all types. The
/// accumulated value is the left operand: `x + a` is matched by a reducer `l + r`, `a + x` is not.
/// Floating-point addition counts as associative here, and so does a plain argmax, whose index
/// among equal values depends on the order: whoever writes it as a reduction leaves the order open.
struct commutative_reducer {
  std::string name;
  std::size_t size = 1;  // k
  /// Combination of `left` and `right`, k values each.
  std::function<std::vector<ir::expr>(const std::vector<ir::expr>& left,
                                      const std::vector<ir::expr>& right)>
      combine;
  /// One entry per accepted identity, each k values; an empty list when the types do not fit.
  std::function<std::vector<std::vector<ir::expr>>(const std::vector<dtype>& types)> identities;
};

/// Makes a reducer known to this process, from any thread; it is asked after those known already.
/// Known from the start: sum, product, min, max, and, or, the sum of pairs, and argmax and argmin,
/// both plain and with the lowest index among equal values.
/// @throws argument_error when it has no values or a function is missing
void register_reducer(commutative_reducer r);

/// A reduction taken apart: `updates[i]` is combine(`left`, `right`)[i].
struct matched_reducer {
  commutative_reducer found;
  std::vector<ir::expr> identity;
  std::vector<ir::expr> right;  // what is combined into the accumulated values
};

/// The first known reducer with this identity whose combination gives `updates`, where `left` are
/// the accumulated values; expressions are compared node by node.
std::optional<matched_reducer> match_reducer(const std::vector<ir::expr>& identity,
                                             const std::vector<ir::expr>& left,
                                             const std::vector<ir::expr>& updates);
/// The same for the reducer that a block's annotations name, in the same order of values.
std::optional<matched_reducer> match_declared_reducer(const ir::annotations& notes,
                                                      const std::vector<ir::expr>& identity,
                                                      const std::vector<ir::expr>& left,
                                                      const std::vector<ir::expr>& updates);

}  // namespace tilewright
