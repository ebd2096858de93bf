// Passes from graph to graph. Each leaves what the graph computes as it is; network::interpret
// before and after is the test.
#pragma once

#include <tilewright/model/graph.hpp>

namespace tilewright::network {

/// Leaves out nodes whose outputs nobody reads, and constants that nobody needs.
void remove_unused(graph& g);

/// All passes in their order.
void optimize(graph& g);

}  // namespace tilewright::network
