// What a block says of the sparse tensors that it reads, where several patterns meet in it.
#pragma once

#include <string>

#include <tilewright/expr/node.hpp>
#include <tilewright/ir/sparse.hpp>

namespace tilewright::dsl::detail {

/// How the sparse tensors below `at` are read: a reduction, or a value without those inside of it. Empty
/// where at most one pattern is walked and none is looked up. See ir::walk_attribute.
inline ir::attr::list walk_note(const node* nodes, int at) {
  bool looks_up = false;
  int walked = -1, merged = -1;
  const int first = at - nodes[at].size;
  for (int k = nodes[at].kind == node_kind::reduce ? at - 1 : at; k > first; --k) {
    const node& n = nodes[k];
    if (n.kind == node_kind::reduce) {  // a block of its own
      k -= n.size - 1;
      continue;
    }
    if (n.kind != node_kind::load || !n.tensor->sparse()) continue;
    const bool merges = n.stored == stored_read::intersected || n.stored == stored_read::united;
    if (n.stored == stored_read::looked_up)
      looks_up = true;
    else
      (merges ? merged : walked) = k;
  }
  const auto variable = [&](int load, int d) {
    return "v" + std::string(nodes[children_of(nodes, load).at[d]].name);
  };
  if (merged >= 0) {
    const bool all = nodes[merged].stored == stored_read::intersected;
    return {all ? "intersect" : "unite", variable(merged, nodes[merged].tensor->rank - 1)};
  }
  if (!looks_up) return {};
  if (walked < 0) return {"look up"};
  ir::attr::list out{"walk", std::string(nodes[walked].tensor->name)};
  for (int d = 0; d < nodes[walked].tensor->rank; ++d) out.emplace_back(variable(walked, d));
  return out;
}

}  // namespace tilewright::dsl::detail
