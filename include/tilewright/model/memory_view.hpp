// Where the elements of a value lie: in memory of its own, or in that of another value.
#pragma once

#include <cstdint>
#include <vector>

#include <tilewright/model/graph.hpp>

namespace tilewright::network {

struct memory_view {
  value_id root = no_value;           // has memory of its own
  std::int64_t offset = 0;            // of the first element in the root's memory // elements
  std::vector<std::int64_t> strides;  // [rank], elements
};

/// The view of each value. An alias lies where its input lies, a part in its input, and what a node
/// joins in its output; everything else has memory of its own, dense and row-major.
/// @param g types are known
/// @throws internal_error for an alias of elements that do not lie densely
std::vector<memory_view> memory_views(const graph& g);

/// Whether a node only says where values lie; no kernel runs for it.
bool is_view(const node& n);

}  // namespace tilewright::network
