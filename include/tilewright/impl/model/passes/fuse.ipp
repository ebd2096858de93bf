#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/model/passes/uses.hpp>
#include <tilewright/model/operators.hpp>
#include <tilewright/model/passes.hpp>

namespace tilewright::network {
namespace detail {

/// Nodes of one kernel, in their order.
using node_group = std::vector<std::size_t>;

class fuser {
 public:
  explicit fuser(graph& g) : g_(g), uses_(g), group_of_(g.nodes.size(), 0) {}

  void run() {
    for (std::size_t k = 0; k < g_.nodes.size(); ++k) join(k);
    // a group stands where its last node stood: whatever it reads is made before
    std::vector<std::pair<std::size_t, std::size_t>> order;
    for (std::size_t group = 0; group < groups_.size(); ++group)
      if (!groups_[group].empty()) order.emplace_back(groups_[group].back(), group);
    std::sort(order.begin(), order.end());
    std::vector<node> out;
    for (const auto& [place, group] : order) out.push_back(node_of(groups_[group]));
    g_.nodes = std::move(out);
  }

 private:
  static constexpr std::size_t most_nodes = 12;

  static op_kind kind_of(const node& n) {
    const operator_definition* op = find_operator(n);
    return op ? op->kind : op_kind::opaque;
  }

  /// Adds node k to the group that makes one of its inputs, or begins one.
  void join(std::size_t k) {
    const node& n = g_.nodes[k];
    std::ptrdiff_t best = -1;
    if (kind_of(n) == op_kind::elementwise && n.outputs.size() == 1)
      for (const value_id v : n.inputs)
        if (v != no_value) best = std::max(best, group_behind(v, n));
    if (best < 0) {
      group_of_[k] = groups_.size();
      groups_.push_back({k});
      return;
    }
    const std::size_t group = group_of_[static_cast<std::size_t>(best)];
    group_of_[k] = group;
    groups_[group].push_back(k);
  }

  /// The last node of a group that may go on with n through value v; -1: there is none. The latest
  /// one is taken, so that what the others make is there.
  std::ptrdiff_t group_behind(value_id v, const node& n) const {
    const std::ptrdiff_t maker = uses_.maker_of(v);
    if (maker < 0) return -1;
    const auto m = static_cast<std::size_t>(maker);
    const node_group& group = groups_[group_of_[m]];
    const node& first = g_.nodes[group.front()];
    const op_kind kind = kind_of(first);
    // reads of one node, perhaps several, and none from outside
    const auto reads = std::count(n.inputs.begin(), n.inputs.end(), v);
    const bool fits = group.back() == m && group.size() < most_nodes && uses_.of(v) == reads &&
                      (kind == op_kind::anchor || kind == op_kind::elementwise) &&
                      g_.nodes[m].outputs.size() == 1 &&
                      g_.type_of(v).extents == g_.type_of(n.outputs[0]).extents;
    return fits ? maker : -1;
  }

  node node_of(const node_group& group) const {
    if (group.size() == 1) return g_.nodes[group[0]];
    node out;
    out.name = g_.nodes[group[0]].name;
    out.domain = "tilewright";
    out.version = 1;
    auto body = std::make_shared<graph>();
    std::map<value_id, value_id> inside;  // of values of the whole graph
    const auto add = [&](value_id v) {
      const value& x = g_.at(v);
      value copy;
      copy.name = x.name;
      copy.type = x.type;
      if (x.data && x.type->elements() == 1) copy.data = x.data;
      return inside[v] = body->add(std::move(copy));
    };
    for (const std::size_t k : group) {
      node part = g_.nodes[k];
      out.op += (out.op.empty() ? "" : "_") + part.op;
      for (value_id& v : part.inputs) {
        if (v == no_value) continue;
        const auto known = inside.find(v);
        if (known != inside.end()) {
          v = known->second;
          continue;
        }
        const value_id whole = v;
        v = add(whole);
        if (!body->at(v).data) {
          body->inputs.push_back(v);
          out.inputs.push_back(whole);
        }
      }
      for (value_id& v : part.outputs)
        if (v != no_value) v = add(v);
      body->nodes.push_back(std::move(part));
    }
    out.outputs = g_.nodes[group.back()].outputs;
    body->name = out.op;
    body->outputs = {inside.at(out.outputs[0])};
    out.attributes["body"] = std::shared_ptr<const graph>(std::move(body));
    return out;
  }

  graph& g_;
  value_uses uses_;
  std::vector<std::size_t> group_of_;  // [nodes]
  std::vector<node_group> groups_;
};

}  // namespace detail

TILEWRIGHT_INLINE void fuse(graph& g) { detail::fuser(g).run(); }

}  // namespace tilewright::network
