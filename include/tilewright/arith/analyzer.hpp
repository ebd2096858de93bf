// Simplification, bounds and proofs for index expressions.
//
// The analyzer knows i32 and i64 arithmetic, comparisons and logic. Variables are indices: their
// arithmetic is taken not to overflow. Whatever comes from a load or a call is data: there an
// operation is only rewritten where bounds show that it cannot wrap. Unsigned and narrow integers
// and floats are left as they are; only their operands are simplified. Every answer is one-sided:
// `prove` says true only for what always holds, bounds always cover, a simplified expression has
// the value of the original one at every point of the domain that was bound.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <tilewright/arith/form.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/support/numbers/index_type.hpp>

namespace tilewright::arith {

/// The types whose arithmetic the analyzer knows.
using tilewright::is_index;

/// Loop variables and their ranges from the outermost to the innermost; a range may use the
/// variables before it.
using loop_domains = std::vector<std::pair<ir::var, ir::range>>;

class solver;

/// A linear fact: `nonnegative` is >= 0 everywhere.
struct fact : support::counted {
  form nonnegative;
  std::vector<ir::expr> terms;  // what `nonnegative` names
};

/// What is known about variables, and the questions one can ask. Copying it is cheap: copy it,
/// assume more, drop the copy.
class analyzer {
 public:
  /// v lies in [r.min, r.min + r.extent), which may be symbolic; forgets an earlier range of v.
  void bind(const ir::var& v, const ir::range& r);
  /// v lies in [lo, hi]; forgets earlier bounds of v.
  void bind(const ir::var& v, std::int64_t lo, std::int64_t hi);
  /// Binds every loop of a nest, in order.
  void bind(const loop_domains& loops);
  /// The same without those that are bound already.
  void bind_new(const loop_domains& loops);
  /// All of them are bound.
  bool knows(const loop_domains& loops) const noexcept;
  /// `condition` holds from here on: comparisons become linear facts, a conjunction each of its
  /// parts, anything else is remembered as it stands.
  void assume(const ir::expr& condition);

  /// Canonical form: sums of terms with coefficients, floordiv and floormod reduced by bounds and
  /// divisibility, min, max, comparisons and conditions decided where they can be. Returns `e`
  /// itself when there is nothing to change.
  ir::expr simplify(const ir::expr& e) const;
  /// True only if the boolean `condition` holds everywhere.
  bool prove(const ir::expr& condition) const;
  /// Constant bounds that cover every value of `e`.
  bounds const_bounds(const ir::expr& e) const;

  /// a == b, a <= b and a < b everywhere, without building the comparison.
  bool prove_equal(const ir::expr& a, const ir::expr& b) const;
  bool prove_le(const ir::expr& a, const ir::expr& b) const;
  bool prove_lt(const ir::expr& a, const ir::expr& b) const;

  /// Linear facts; bounds of single variables are not among them.
  const std::vector<support::ref<const fact>>& facts() const noexcept { return facts_; }

  /// Conditions that were assumed and are no linear facts.
  const std::vector<ir::expr>& truths() const noexcept { return truths_; }

 private:
  friend class solver;
  struct binding {
    ir::var var;
    bounds range;
  };
  const bounds* find(const ir::expr_node* v) const noexcept;
  bounds& entry(const ir::var& v);
  void forget(const ir::var& v);
  void add_fact(const form& nonnegative);

  std::vector<binding> vars_;  // sorted by address; only looked up, never listed
  std::vector<support::ref<const fact>> facts_;
  std::vector<ir::expr> truths_;  // conditions that are no linear facts
};

/// `simplify` of an analyzer that knows nothing.
ir::expr simplify(const ir::expr& e);

}  // namespace tilewright::arith
