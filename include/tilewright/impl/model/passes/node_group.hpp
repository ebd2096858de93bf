// Several nodes of a graph as one that holds them.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/model/graph.hpp>

namespace tilewright::network::detail {

/// A node of the domain "tilewright" whose body are the given nodes, in their order. What the last
/// one makes, the whole makes; it reads what none of them makes. One node stays as it is.
/// @param op its operator; empty: those of its nodes in a row
inline node holder_of(const graph& g, const std::vector<std::size_t>& group, std::string op = {}) {
  if (group.size() == 1) return g.nodes[group[0]];
  node out;
  out.name = g.nodes[group[0]].name;
  out.domain = "tilewright";
  out.version = 1;
  auto body = std::make_shared<graph>();
  std::map<value_id, value_id> inside;  // of values of the whole graph
  const auto is_short = [](const tensor_type& t) { return t.elements() <= 64; };
  const auto add = [&](value_id v) {
    const value& x = g.at(v);
    value copy;
    copy.name = x.name;
    copy.type = x.type;
    // one element becomes a literal; lists of integers may say where elements lie
    if (x.data && (x.type->elements() == 1 || (is_integer(x.type->type) && is_short(*x.type))))
      copy.data = x.data;
    return inside[v] = body->add(std::move(copy));
  };
  for (const std::size_t k : group) {
    node part = g.nodes[k];
    out.op += (out.op.empty() ? "" : "_") + part.op;
    for (value_id& v : part.inputs) {
      if (v == no_value) continue;
      const auto known = inside.find(v);
      if (known != inside.end()) {
        v = known->second;
        continue;
      }
      const value_id whole = v;
      v = add(whole);
      if (!body->at(v).data || body->type_of(v).elements() > 1) {
        body->inputs.push_back(v);
        out.inputs.push_back(whole);
      }
    }
    for (value_id& v : part.outputs)
      if (v != no_value) v = add(v);
    body->nodes.push_back(std::move(part));
  }
  if (!op.empty()) out.op = std::move(op);
  out.outputs = g.nodes[group.back()].outputs;
  body->name = out.op;
  body->outputs = {inside.at(out.outputs[0])};
  out.attributes["body"] = std::shared_ptr<const graph>(std::move(body));
  return out;
}

}  // namespace tilewright::network::detail
