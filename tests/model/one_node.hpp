// Graphs of one node.
#pragma once

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include <tilewright/model/inference.hpp>
#include <tilewright/model/interpret.hpp>
#include <tilewright/support/error.hpp>

namespace network_tests {

using namespace tilewright;
using network::constant;
using network::shape;

inline constant floats(const shape& extents, double factor = 0.37) {
  auto [c, data] = constant::make({dtype::f32, extents});
  for (std::int64_t k = 0; k < c.type().elements(); ++k) {
    const float x = static_cast<float>(std::sin(factor * static_cast<double>(k + 1)));
    std::memcpy(data + 4 * k, &x, 4);
  }
  return c;
}

/// A graph of one node whose inputs are `given`; those in `known` are constants of the graph.
struct one_node {
  network::graph g;
  network::node n;
  std::vector<constant> arguments;

  explicit one_node(const std::string& op, int version = 23) {
    g.name = "one";
    n.op = n.name = op;
    n.version = version;
  }
  one_node& input(const constant& c, bool is_known = false) {
    network::value v;
    v.name = "x" + std::to_string(n.inputs.size());
    v.type = c.type();
    if (is_known) v.data = c;
    n.inputs.push_back(g.add(v));
    if (!is_known) {
      g.inputs.push_back(n.inputs.back());
      arguments.push_back(c);
    }
    return *this;
  }
  one_node& without() {
    n.inputs.push_back(network::no_value);
    return *this;
  }
  template <class T>
  one_node& with(const std::string& name, T value) {
    n.attributes[name] = value;
    return *this;
  }
  network::graph finished() {
    network::value v;
    v.name = "y";
    n.outputs = {g.add(v)};
    g.outputs = n.outputs;
    g.nodes = {n};
    network::infer_types(g);
    return g;
  }
  constant result() {
    const network::graph whole = finished();
    return network::interpret(whole, arguments).at(0);
  }
};

inline std::string refusal(one_node n) {
  try {
    n.result();
  } catch (const argument_error& e) {
    return e.what();
  }
  return "none";
}

}  // namespace network_tests
