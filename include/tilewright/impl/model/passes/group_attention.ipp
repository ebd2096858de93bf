#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <tilewright/impl/model/passes/node_group.hpp>
#include <tilewright/impl/model/passes/uses.hpp>
#include <tilewright/model/operators.hpp>
#include <tilewright/model/passes.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::network {
namespace detail {

/// Finds products whose rows, after softmax, weigh the rows of another product.
class attention_finder {
 public:
  explicit attention_finder(const graph& g) : g_(g), uses_(g) {}

  /// The nodes of the attention that node `last` ends, in their order; empty: it ends none.
  std::vector<std::size_t> ending_at(std::size_t last) const {
    std::vector<std::size_t> out{last};
    const node& product = g_.nodes[last];
    if (!is_matmul(product) || g_.type_of(product.outputs[0]).extents.size() < 2) return {};
    const std::ptrdiff_t softmax = behind_elementwise(product.inputs[0], out);
    if (softmax < 0 || !sums_to_one(g_.nodes[static_cast<std::size_t>(softmax)])) return {};
    out.push_back(static_cast<std::size_t>(softmax));
    const value_id logits = g_.nodes[static_cast<std::size_t>(softmax)].inputs[0];
    const std::ptrdiff_t scores = behind_elementwise(logits, out);
    if (scores < 0 || !is_matmul(g_.nodes[static_cast<std::size_t>(scores)])) return {};
    out.push_back(static_cast<std::size_t>(scores));
    std::reverse(out.begin(), out.end());
    return out;
  }

 private:
  static bool is_matmul(const node& n) { return n.op == "MatMul" && n.domain.empty(); }

  /// Softmax along the last dimension of stacked matrices.
  bool sums_to_one(const node& n) const {
    if (n.op != "Softmax" || !n.domain.empty() || n.version < 13) return false;
    const auto rank = static_cast<std::int64_t>(g_.type_of(n.inputs[0]).extents.size());
    const std::int64_t axis = n.integer("axis", -1);
    return axis == -1 || axis == rank - 1;
  }

  /// The node that makes a value that one node reads, or makes it but for elementwise operators of
  /// the same extents behind it, which are added to `passed`; -1: there is none.
  std::ptrdiff_t behind_elementwise(value_id v, std::vector<std::size_t>& passed) const {
    const shape& extents = g_.type_of(v).extents;
    for (;;) {
      const std::ptrdiff_t maker = uses_.maker_of(v);
      if (maker < 0 || uses_.of(v) != 1) return -1;
      const node& n = g_.nodes[static_cast<std::size_t>(maker)];
      if (n.outputs.size() != 1) return -1;
      const operator_definition* op = find_operator(n);
      if (!op || op->kind != op_kind::elementwise) return maker;
      const value_id next = main_input(n, extents);
      if (next == no_value) return -1;
      passed.push_back(static_cast<std::size_t>(maker));
      v = next;
    }
  }

  /// The only input of the given extents that a node makes for this one; others are masks and
  /// factors.
  value_id main_input(const node& n, const shape& extents) const {
    value_id out = no_value;
    for (const value_id v : n.inputs) {
      if (v == no_value || g_.at(v).data || g_.type_of(v).extents != extents) continue;
      if (uses_.maker_of(v) < 0 || uses_.of(v) != 1) continue;
      if (out != no_value) return no_value;
      out = v;
    }
    return out;
  }

  const graph& g_;
  value_uses uses_;
};

}  // namespace detail

TILEWRIGHT_INLINE void group_attention(graph& g) {
  const detail::attention_finder found(g);
  std::vector<bool> is_joined(g.nodes.size(), false);  // by the last node of its group
  std::vector<bool> is_taken(g.nodes.size(), false);   // by a group
  std::vector<node> kept(g.nodes.size());
  for (std::size_t k = 0; k < g.nodes.size(); ++k) {
    std::vector<std::size_t> group = found.ending_at(k);
    // rows that are weighed twice: the first attention keeps its nodes
    const bool is_free = support::none(group, [&](std::size_t i) { return bool{is_taken[i]}; });
    if (group.empty() || !is_free) {
      kept[k] = g.nodes[k];
      continue;
    }
    for (const std::size_t i : group) {
      is_taken[i] = true;
      is_joined[i] = i != k;
    }
    kept[k] = detail::holder_of(g, group, "Attention");
  }
  g.nodes.clear();
  for (std::size_t k = 0; k < kept.size(); ++k)
    if (!is_joined[k]) g.nodes.push_back(std::move(kept[k]));
}

}  // namespace tilewright::network
