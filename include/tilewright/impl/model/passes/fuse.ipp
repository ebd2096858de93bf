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

/// Nodes of one kernel, in their order, and the one that the kernel is built around.
struct node_group {
  std::vector<std::size_t> nodes;
  std::size_t lead = 0;
};

class fuser {
 public:
  explicit fuser(graph& g) : g_(g), uses_(g), group_of_(g.nodes.size(), 0) {}

  void run() {
    for (std::size_t k = 0; k < g_.nodes.size(); ++k) {
      join(k);
      take_moves(k);
    }
    // a group stands where its last node stood: whatever it reads is made before
    std::vector<std::pair<std::size_t, std::size_t>> order;
    for (std::size_t group = 0; group < groups_.size(); ++group)
      if (!groups_[group].nodes.empty()) order.emplace_back(groups_[group].nodes.back(), group);
    std::sort(order.begin(), order.end());
    std::vector<node> out;
    for (const auto& [place, group] : order) out.push_back(holder_of(g_, groups_[group].nodes));
    g_.nodes = std::move(out);
  }

 private:
  static constexpr std::size_t most_nodes = 16;

  static op_kind kind_of(const node& n) {
    if (body_of(n)) return op_kind::anchor;
    const operator_definition* op = find_operator(n);
    return op ? op->kind : op_kind::opaque;
  }
  /// An alias whose reader finds an element by the digits of a flat index. In the sum of a product
  /// they would keep its loops from being tiled.
  bool folds_dimensions(const node& n) const {
    if (kind_of(n) != op_kind::alias) return false;
    const auto without_ones = [&](value_id v) {
      shape s = g_.type_of(v).extents;
      s.erase(std::remove(s.begin(), s.end(), 1), s.end());
      return s;
    };
    const shape from = without_ones(n.inputs[0]), to = without_ones(n.outputs[0]);
    std::size_t front = 0, back = 0;
    while (front < from.size() && front < to.size() && from[front] == to[front]) ++front;
    while (back + front < from.size() && back + front < to.size() &&
           from[from.size() - 1 - back] == to[to.size() - 1 - back])
      ++back;
    return from.size() - front - back > 1;
  }
  /// A product, or several in one node, as attention is.
  static bool is_product(const node& n) { return n.op == "MatMul" || n.op == "Gemm" || body_of(n); }
  /// Reads a row several times, and is cheap beside that: what makes the row belongs with it.
  static bool is_row_operator(const node& n) {
    static const char* const names[] = {"Softmax", "LogSoftmax", "LayerNormalization",
                                        "RMSNormalization", "LpNormalization"};
    return n.domain.empty() &&
           std::find(std::begin(names), std::end(names), n.op) != std::end(names);
  }
  /// Copies elements, and reads no indices that have to be checked before.
  static bool is_move(const node& n) {
    const operator_definition* op = find_operator(n);
    return op && op->kind == op_kind::index_map && !op->bounds && n.outputs.size() == 1;
  }

  /// Adds node k to the group that makes one of its inputs, or begins one.
  void join(std::size_t k) {
    const node& n = g_.nodes[k];
    std::ptrdiff_t best = -1;
    const bool goes_on = kind_of(n) == op_kind::elementwise || n.op == "Transpose" ||
                         kind_of(n) == op_kind::alias || is_move(n) || is_row_operator(n);
    if (goes_on && n.outputs.size() == 1)
      for (const value_id v : n.inputs)
        if (v != no_value) best = std::max(best, group_behind(v, n));
    if (best < 0) {
      group_of_[k] = groups_.size();
      groups_.push_back({{k}, k});
      return;
    }
    const std::size_t group = group_of_[static_cast<std::size_t>(best)];
    group_of_[k] = group;
    groups_[group].nodes.push_back(k);
  }

  /// The last node of a group that may go on with n through value v; -1: there is none. The latest
  /// one is taken, so that what the others make is there.
  std::ptrdiff_t group_behind(value_id v, const node& n) const {
    const std::ptrdiff_t maker = uses_.maker_of(v);
    if (maker < 0) return -1;
    const auto m = static_cast<std::size_t>(maker);
    const node_group& group = groups_[group_of_[m]];
    // reads of one node, perhaps several, and none from outside
    const auto reads = std::count(n.inputs.begin(), n.inputs.end(), v);
    if (group.nodes.back() != m || group.nodes.size() >= most_nodes || uses_.of(v) != reads ||
        g_.nodes[m].outputs.size() != 1)
      return -1;
    const node& lead = g_.nodes[group.lead];
    const bool fits =
        kind_of(n) == op_kind::elementwise
            ? kind_of(lead) == op_kind::anchor || kind_of(lead) == op_kind::elementwise
        : is_row_operator(n) ? kind_of(lead) == op_kind::elementwise && n.inputs[0] == v
                             // a product may write its elements elsewhere; copies follow copies
                             : (n.op == "Transpose" && is_product(lead)) || is_move(lead);
    const bool same = g_.type_of(v).extents == g_.type_of(n.outputs[0]).extents;
    const bool keeps_extents = kind_of(n) == op_kind::elementwise || is_row_operator(n);
    return fits && (same || !keeps_extents) ? maker : -1;
  }

  /// Copies that node k alone reads become indices in its kernel.
  void take_moves(std::size_t k) {
    const node& n = g_.nodes[k];
    if (kind_of(n) != op_kind::elementwise && !is_product(n)) return;
    node_group& to = groups_[group_of_[k]];
    for (const value_id v : n.inputs) {
      const std::ptrdiff_t maker = v == no_value ? -1 : uses_.maker_of(v);
      if (maker < 0) continue;
      const auto m = static_cast<std::size_t>(maker);
      node_group& from = groups_[group_of_[m]];
      const auto reads = std::count(n.inputs.begin(), n.inputs.end(), v);
      if (&from == &to || !is_move(g_.nodes[from.lead]) || from.nodes.back() != m ||
          uses_.of(v) != reads || from.nodes.size() + to.nodes.size() > most_nodes)
        continue;
      const bool folds_dims =
          support::any(from.nodes, [&](std::size_t i) { return folds_dimensions(g_.nodes[i]); });
      if (folds_dims && is_product(n)) continue;
      for (const std::size_t moved : from.nodes) group_of_[moved] = group_of_[k];
      to.nodes.insert(to.nodes.end(), from.nodes.begin(), from.nodes.end());
      std::sort(to.nodes.begin(), to.nodes.end());
      from.nodes.clear();
    }
  }

  graph& g_;
  value_uses uses_;
  std::vector<std::size_t> group_of_;  // [nodes]
  std::vector<node_group> groups_;
};

}  // namespace detail

TILEWRIGHT_INLINE void fuse(graph& g) { detail::fuser(g).run(); }

}  // namespace tilewright::network
