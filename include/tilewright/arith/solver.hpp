// Internal: the rewriting engine behind `analyzer`. Not for use outside of this room.
#pragma once

#include <tilewright/arith/analyzer.hpp>

namespace tilewright::arith {

/// One question to an analyzer: rewrites and proves with a bounded number of steps.
class solver {
 public:
  explicit solver(const analyzer& known) : known_(known) {}
  solver(const solver&) = delete;
  solver& operator=(const solver&) = delete;

  ir::expr simplify(const ir::expr& e);
  bool prove(const ir::expr& condition);

  /// Canonical form of an expression of index type; valid as long as `e` and the solver live.
  form to_form(const ir::expr& e);
  form to_form(const ir::expr&& e) = delete;
  const ir::expr& keep(ir::expr e) { return keeper_.keep(std::move(e)); }
  bounds range(const form& f, bool with_facts = true) const;
  bounds range(const ir::expr& e) const;
  /// f >= 0 everywhere.
  bool nonnegative(const form& f);
  /// The value of `f` is representable in `type`, or made of variables alone.
  bool exact(const form& f, dtype type) const;

  /// The form of an operand of a term; false where it holds data that may have wrapped.
  bool operand(const ir::expr& e, bool data, form& out) const;

  form divide(const form& f, std::int64_t divisor, dtype type);
  form modulo(const form& f, std::int64_t divisor, dtype type);
  /// Merges quotients and remainders that belong together.
  void recombine(form& f, dtype type);

  /// `d >= 0` as the equivalent of an order comparison; invalid when it has none.
  form inequality(const ir::expr& comparison);
  form inequality(const ir::expr&& comparison) = delete;
  form inequality(ir::op o, const form& a, const form& b, dtype type);

 private:
  // sums
  void collect(const ir::expr& e, std::int64_t factor, form& out);
  void collect_product(const ir::expr& e, std::int64_t factor, form& out);
  void collect_cast(const ir::expr& e, std::int64_t factor, form& out);
  void collect_opaque(const ir::expr& e, std::int64_t factor, form& out);
  form extremum(const ir::expr& e);
  form chosen(const ir::expr& e);
  void distribute_extremum(form& f, dtype type);
  // quotients
  form quotient(const ir::expr& e);
  form opaque_quotient(ir::op o, const form& f, std::int64_t divisor, dtype type);
  form symbolic_quotient(const ir::expr& e, const form& a, const form& b);
  bool join_remainder(form& f, std::size_t i, dtype type);
  bool join_symbolic_remainder(form& f, std::size_t i);
  bool join_quotient(form& f, std::size_t i, dtype type);
  // logic
  ir::expr children(const ir::expr& e);
  const ir::expr& kept_children(const ir::expr& e);
  ir::expr compare(const ir::expr& e);
  ir::expr order(const form& d, dtype type, const ir::expr& like) const;
  ir::expr equality(const ir::expr& e);
  ir::expr connective(const ir::expr& e);
  ir::expr choice(const ir::expr& e);
  ir::expr simplify_if(const ir::expr& condition, const ir::expr& branch);
  ir::expr with_forms(const ir::expr& e, const form& a, const form& b) const;
  bool prove_equality(const ir::expr& e);
  // proofs
  bool nonnegative(form f, int depth);
  bool by_facts(const form& f, int depth);
  bool by_terms(const form& f, int depth);
  void tighten(const form& f, bounds& out) const;

  const analyzer& known_;
  term_keeper keeper_;
  mutable int nested_facts_ = 0;
  int steps_ = 48;  // proof attempts left
};

}  // namespace tilewright::arith
