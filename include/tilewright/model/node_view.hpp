// A node with its graph: what is known of its inputs and attributes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/model/graph.hpp>

namespace tilewright::network {

/// What inference and code generation ask of a node.
class node_view {
 public:
  node_view(const graph& g, const node& n) : graph_(&g), node_(&n) {}

  const graph& whole() const { return *graph_; }
  const node& what() const { return *node_; }
  [[noreturn]] void fail(const std::string& text) const { network::fail(*node_, text); }

  std::size_t input_count() const { return node_->inputs.size(); }
  /// Type of an input.
  /// @throws argument_error when the input is left out
  const tensor_type& in(std::size_t k) const;
  std::size_t rank(std::size_t k) const { return in(k).extents.size(); }
  /// Elements of an input, null when they depend on the arguments of a call, or it is left out.
  const constant* known(std::size_t k) const;
  /// The numbers of an input that has to be known when the graph is loaded.
  /// @throws argument_error naming the input when it is not
  std::vector<std::int64_t> numbers(std::size_t k) const;
  /// A list that older operator sets give as an attribute and newer ones as input k; `otherwise`
  /// where it is not given.
  std::vector<std::int64_t> list(std::size_t k, std::string_view attribute_name,
                                 std::vector<std::int64_t> otherwise = {}) const;
  bool has_list(std::size_t k, std::string_view attribute_name) const {
    return node_->has_input(k) || node_->has(attribute_name);
  }
  /// An axis counted from the front.
  /// @throws argument_error when it is not in [-rank, rank)
  std::size_t dimension(std::int64_t axis, std::size_t rank_of) const;
  /// Several of them, all `rank_of` where the list is empty and `all` says so; sorted.
  std::vector<std::size_t> dimensions(const std::vector<std::int64_t>& list,
                                      std::size_t rank_of) const;

 private:
  const graph* graph_;
  const node* node_;
};

/// A node whose outputs are being found out.
class inference : public node_view {
 public:
  inference(graph& g, const node& n) : node_view(g, n), graph_(&g) {}

  /// Gives an output its type; nothing when it is left out.
  /// @throws argument_error when an extent is negative or there are too many elements
  void out(std::size_t k, tensor_type type);
  /// Gives an output its elements.
  void out(std::size_t k, constant elements);

 private:
  graph* graph_;
};

/// Extents of the result of an elementwise operator.
/// @throws argument_error when two extents differ and none is 1
shape broadcast(const node_view& n, const shape& a, const shape& b);

}  // namespace tilewright::network
