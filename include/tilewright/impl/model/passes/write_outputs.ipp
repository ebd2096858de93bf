#pragma once

#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include <tilewright/model/memory_view.hpp>
#include <tilewright/model/passes.hpp>

namespace tilewright::network {

TILEWRIGHT_INLINE void write_outputs(graph& g) {
  const std::vector<memory_view> views = memory_views(g);
  const auto root = [&](value_id v) { return views[static_cast<std::size_t>(v)].root; };
  std::set<value_id> taken;  // roots that a caller has the memory of, or nobody writes
  for (const value_id v : g.inputs) taken.insert(v);
  for (value_id& v : g.outputs) {
    if (!g.at(root(v)).data && taken.insert(root(v)).second) continue;
    value copied;
    copied.name = g.at(v).name + ".copied";
    copied.type = g.type_of(v);
    node n;
    n.op = "Copy";
    n.domain = "tilewright";
    n.version = 1;
    n.name = copied.name;
    n.inputs = {v};
    v = g.add(std::move(copied));
    n.outputs = {v};
    g.nodes.push_back(std::move(n));
  }
}

}  // namespace tilewright::network
