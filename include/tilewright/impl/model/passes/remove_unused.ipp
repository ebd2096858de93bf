#pragma once

#include <algorithm>
#include <vector>

#include <tilewright/model/passes.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::network {

TILEWRIGHT_INLINE void remove_unused(graph& g) {
  std::vector<bool> needed(g.values.size(), false);
  const auto need = [&](value_id v) {
    if (v != no_value) needed[static_cast<std::size_t>(v)] = true;
  };
  for (const value_id v : g.outputs) need(v);
  std::vector<node> kept;
  for (auto n = g.nodes.rbegin(); n != g.nodes.rend(); ++n) {
    const bool is_read = support::any(n->outputs, [&](value_id v) {
      return v != no_value && needed[static_cast<std::size_t>(v)];
    });
    if (!is_read) continue;
    for (const value_id v : n->inputs) need(v);
    kept.push_back(std::move(*n));
  }
  std::reverse(kept.begin(), kept.end());
  g.nodes = std::move(kept);
  for (std::size_t v = 0; v < g.values.size(); ++v)
    if (!needed[v]) g.values[v].data.reset();
}

}  // namespace tilewright::network
