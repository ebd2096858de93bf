// The oracle of graphs: node by node, each through the interpreter of its kernel.
#pragma once

#include <vector>

#include <tilewright/model/graph.hpp>

namespace tilewright::network {

/// Outputs of a node whose inputs are known; `inputs` has one entry per input, those left out
/// without data.
/// @throws argument_error naming the node, and what ir::interpret throws
std::vector<constant> evaluate(const graph& g, const node& n, const std::vector<constant>& inputs);

/// Outputs of a graph whose types are known.
/// @throws argument_error when an input has another type than the graph's
std::vector<constant> interpret(const graph& g, const std::vector<constant>& inputs);

}  // namespace tilewright::network
