#pragma once

#include <utility>
#include <vector>

#include <tilewright/impl/model/passes/uses.hpp>
#include <tilewright/model/passes.hpp>

namespace tilewright::network {

TILEWRIGHT_INLINE void replace_nan(graph& g) {
  const detail::value_uses uses(g);
  std::vector<bool> is_joined(g.nodes.size(), false);
  for (node& n : g.nodes) {
    if (n.op != "Where" || !n.domain.empty() || n.inputs.size() != 3) continue;
    const std::ptrdiff_t maker = uses.maker_of(n.inputs[0]);
    if (maker < 0 || uses.of(n.inputs[0]) != 1) continue;
    const node& test = g.nodes[static_cast<std::size_t>(maker)];
    if (test.op != "IsNaN" || !test.domain.empty() || test.inputs[0] != n.inputs[2]) continue;
    is_joined[static_cast<std::size_t>(maker)] = true;
    n.op = "ReplaceNaN";
    n.domain = "tilewright";
    n.version = 1;
    n.inputs = {n.inputs[2], n.inputs[1]};
  }
  std::vector<node> kept;
  for (std::size_t k = 0; k < g.nodes.size(); ++k)
    if (!is_joined[k]) kept.push_back(std::move(g.nodes[k]));
  g.nodes = std::move(kept);
}

}  // namespace tilewright::network
