// Types of all values, and the elements of those that follow from shapes.
#pragma once

#include <string>
#include <vector>

#include <tilewright/model/graph.hpp>

namespace tilewright::network {

/// Nodes of one operator that is not supported.
struct unsupported_operator {
  std::string op, domain;
  int version = 0;
  int count = 0;
  std::string first;  // text of the first node
};
std::vector<unsupported_operator> unsupported_operators(const graph& g);

/// Gives each value of a graph its type. What depends on shapes and constants alone, as the
/// arithmetic on shapes of an exporter does, becomes a constant here; nodes of which all outputs are
/// constants are left out.
///
/// It requires: 1) nodes in order, see sort_nodes; 2) types of all inputs, with extents bound.
/// @throws argument_error that lists all unsupported operators, or names the node whose inputs do
/// not go together
void infer_types(graph& g);

}  // namespace tilewright::network
