// Solved domains whose combinations do not all occur.
#pragma once

#include <optional>
#include <vector>

#include <tilewright/impl/dependence/binding/domain_inference.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::dependence {

/// Which iteration variable was the first to be solved in terms of each loop; -1: none yet.
struct first_users {
  const loop_nest& loops;
  std::vector<int> of = std::vector<int>(loops.size(), -1);

  /// Notes that `variable` is solved in terms of `e`; true when another one shares a loop with it.
  bool share(const ir::expr& e, int variable) {
    if (const int l = ir::is_var(e) ? loop_index(loops, e) : -1; l >= 0) {
      int& first = of[static_cast<std::size_t>(l)];
      if (first < 0) first = variable;
      return first != variable;
    }
    return support::any(e->args, [&](const ir::expr& arg) { return share(arg, variable); });
  }
  bool share(const std::optional<arith::linear>& side, int variable) {
    return side &&
           support::any(side->terms, [&](const auto& t) { return share(t.first, variable); });
  }
};

/// Whether two iteration variables are solved in terms of one loop, so that not every combination
/// of their values occurs.
inline bool solved_together(const std::vector<iter_domain>& solved, const loop_nest& loops) {
  first_users users{loops};
  int variable = 0;
  return support::any(solved, [&](const iter_domain& d) {
    ++variable;
    return users.share(d.lo, variable) || users.share(d.hi, variable);
  });
}

}  // namespace tilewright::dependence
