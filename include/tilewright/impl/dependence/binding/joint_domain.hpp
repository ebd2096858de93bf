// Solved domains whose combinations do not all occur.
#pragma once

#include <cstddef>
#include <vector>

#include <tilewright/impl/dependence/binding/domain_inference.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::dependence {

/// Whether two iteration variables are solved in terms of one loop, so that not every combination
/// of their values occurs.
inline bool solved_jointly(const std::vector<iter_domain>& solved, const loop_nest& loops) {
  std::vector<std::size_t> first(loops.size(), solved.size());  // variable in terms of each loop
  const auto share = [&](const auto& self, const ir::expr& e, std::size_t variable) -> bool {
    const int l = ir::is_var(e) ? loop_index(loops, e) : -1;
    if (l < 0)
      return support::any(e->args, [&](const ir::expr& arg) { return self(self, arg, variable); });
    std::size_t& user = first[static_cast<std::size_t>(l)];
    if (user == solved.size()) user = variable;
    return user != variable;
  };
  for (std::size_t i = 0; i < solved.size(); ++i)
    for (const auto* side : {&solved[i].lo, &solved[i].hi})
      if (*side &&
          support::any((*side)->terms, [&](const auto& t) { return share(share, t.first, i); }))
        return true;
  return false;
}

}  // namespace tilewright::dependence
