// Internal: elimination of loop variables from forms, shared by intervals and regions.
#pragma once

#include <tilewright/arith/interval.hpp>
#include <tilewright/arith/solver.hpp>

namespace tilewright::arith {

/// Bounds of forms while loops run. An invalid form stands for "unbounded".
class relaxer {
 public:
  /// `known` has the loops bound already.
  relaxer(const analyzer& known, const loop_domains& loops)
      : known_(known), loops_(loops), solver_(known) {}

  form lower(const form& f);
  form upper(const form& f);
  /// Both at once for sums of variables with constant ranges; false when `f` is something else.
  bool simple(const form& f, form& lo, form& hi);
  bool depends(const ir::expr& e) const;
  solver& rewriting() { return solver_; }

 private:
  form eliminate(form f, bool low);
  form bounded_by_facts(const form& f, form found, bool low);
  form bound_of_term(const ir::expr& t, bool low);
  form bound_by_range(const ir::expr& t, bool low) const;
  form bound_of_product(const ir::expr& t, bool low);
  form bound_of_remainder(const ir::expr& t, bool low);
  form end_of_range(std::size_t loop, bool low);
  form tighter(const form& a, const form& b, bool low, dtype type);
  std::size_t count_dependent(const form& f) const;

  const analyzer& known_;
  const loop_domains& loops_;
  solver solver_;
};

/// Upper bound of a box; dimensions about which nothing is known become null.
std::vector<ir::range> relax(const std::vector<ir::range>& box, relaxer& by);

}  // namespace tilewright::arith
