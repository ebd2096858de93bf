#pragma once

#include <map>
#include <utility>

#include <tilewright/model/operators.hpp>

namespace tilewright::network {

TILEWRIGHT_INLINE value_id expansion::fresh() {
  value v;
  v.name =
      (what().name.empty() ? what().op : what().name) + "." + std::to_string(graph_->values.size());
  return graph_->add(std::move(v));
}

TILEWRIGHT_INLINE value_id expansion::known_value(constant c) {
  const value_id out = fresh();
  graph_->at(out).type = c.type();
  graph_->at(out).data = std::move(c);
  return out;
}

TILEWRIGHT_INLINE void expansion::add(std::string op, std::vector<value_id> inputs,
                                      std::vector<value_id> outputs,
                                      std::map<std::string, attribute, std::less<>> attributes,
                                      std::string domain) {
  node n;
  n.name = what().name;
  n.op = std::move(op);
  n.version = domain.empty() ? what().version : 1;
  n.domain = std::move(domain);
  n.inputs = std::move(inputs);
  n.outputs = std::move(outputs);
  n.attributes = std::move(attributes);
  nodes.push_back(std::move(n));
}

TILEWRIGHT_INLINE void expansion::add(const graph& body, const std::vector<value_id>& inputs) {
  std::map<value_id, value_id> outside;
  for (std::size_t k = 0; k < inputs.size(); ++k) outside[body.inputs.at(k)] = inputs[k];
  const auto value_of = [&](value_id v) {
    if (v == no_value) return v;
    const auto [at, is_new] = outside.emplace(v, no_value);
    if (is_new) {
      at->second = fresh();
      value& x = graph_->at(at->second);
      x.type = body.at(v).type;
      x.data = body.at(v).data;
    }
    return at->second;
  };
  for (node n : body.nodes) {
    for (value_id& v : n.inputs) v = value_of(v);
    for (value_id& v : n.outputs) v = value_of(v);
    nodes.push_back(std::move(n));
  }
  // an output may be an input or a constant of the body, or stand for two outputs of the node
  for (std::size_t k = 0; k < what().outputs.size(); ++k)
    if (what().has_output(k)) add("Identity", {value_of(body.outputs.at(k))}, {what().outputs[k]});
}

}  // namespace tilewright::network
