// Who reads the values of a graph, and who makes them.
#pragma once

#include <cstddef>
#include <vector>

#include <tilewright/model/graph.hpp>

namespace tilewright::network::detail {

struct value_uses {
  std::vector<int> count;             // [values] reads by nodes, and by the outside
  std::vector<std::ptrdiff_t> maker;  // [values] node, or -1

  explicit value_uses(const graph& g) : count(g.values.size(), 0), maker(g.values.size(), -1) {
    for (std::size_t k = 0; k < g.nodes.size(); ++k) {
      for (const value_id v : g.nodes[k].inputs)
        if (v != no_value) ++count[static_cast<std::size_t>(v)];
      for (const value_id v : g.nodes[k].outputs)
        if (v != no_value) maker[static_cast<std::size_t>(v)] = static_cast<std::ptrdiff_t>(k);
    }
    for (const value_id v : g.outputs) ++count[static_cast<std::size_t>(v)];
  }
  int of(value_id v) const { return count[static_cast<std::size_t>(v)]; }
  std::ptrdiff_t maker_of(value_id v) const { return maker[static_cast<std::size_t>(v)]; }
};

}  // namespace tilewright::network::detail
