// Graphs that tests write node by node.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/model/graph.hpp>

namespace network_tests {

using namespace tilewright;
using attribute_map = std::map<std::string, network::attribute, std::less<>>;
using list = std::vector<std::int64_t>;

struct written_graph {
  network::graph g;

  network::value_id input(const std::string& name, const network::shape& extents,
                          dtype type = dtype::f32) {
    network::value v;
    v.name = name;
    v.type = network::tensor_type{type, extents};
    g.inputs.push_back(g.add(v));
    return g.inputs.back();
  }
  network::value_id known(const network::constant& c) {
    network::value v;
    v.name = "c" + std::to_string(g.values.size());
    v.type = c.type();
    v.data = c;
    return g.add(v);
  }
  /// A node of one output, which is returned.
  network::value_id add(const std::string& op, const std::vector<network::value_id>& inputs,
                        attribute_map attributes = {}) {
    network::value v;
    v.name = "v" + std::to_string(g.values.size());
    network::node n;
    n.op = op;
    n.name = v.name;
    n.version = 17;
    n.inputs = inputs;
    n.outputs = {g.add(v)};
    n.attributes = std::move(attributes);
    g.nodes.push_back(n);
    return n.outputs[0];
  }
};

inline network::constant waves(const network::shape& extents, double factor) {
  auto [c, data] = network::constant::make({dtype::f32, extents});
  for (std::int64_t k = 0; k < c.type().elements(); ++k) {
    const float x = static_cast<float>(std::sin(factor * static_cast<double>(k + 1)));
    std::memcpy(data + 4 * k, &x, 4);
  }
  return c;
}

inline int count_of(const network::graph& g, const std::string& op) {
  return static_cast<int>(std::count_if(g.nodes.begin(), g.nodes.end(),
                                        [&](const network::node& n) { return n.op == op; }));
}

}  // namespace network_tests
