#pragma once

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <tuple>

#include <tilewright/model/inference.hpp>
#include <tilewright/model/interpret.hpp>
#include <tilewright/model/operators.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::network {
namespace detail {

/// More elements than shapes have; larger constants are left to the pass that folds them.
inline constexpr std::int64_t most_folded = 1 << 16;

inline bool folds(const graph& g, const node& n) {
  for (const value_id v : n.inputs)
    if (v != no_value && !g.at(v).data) return false;
  for (const value_id v : n.outputs)
    if (v != no_value && g.type_of(v).elements() > most_folded) return false;
  return true;
}

inline void fold(graph& g, const node& n) {
  std::vector<constant> inputs;
  for (const value_id v : n.inputs) inputs.push_back(v == no_value ? constant() : *g.at(v).data);
  const std::vector<constant> outputs = evaluate(g, n, inputs);
  for (std::size_t k = 0; k < n.outputs.size(); ++k)
    if (n.has_output(k)) g.at(n.outputs[k]).data = outputs[k];
}

inline bool is_constant(const graph& g, const node& n) {
  return support::all(n.outputs,
                      [&](value_id v) { return v == no_value || g.at(v).data.has_value(); });
}

inline void check_known_indices(const operator_definition& op, const node_view& n) {
  for (const index_bound& b : op.bounds(n)) {
    const constant* c = n.known(b.input);
    if (!c) continue;
    if (const std::optional<std::int64_t> i = b.outside(c->data(), c->type()))
      n.fail("index " + std::to_string(*i) + " in input " + std::to_string(b.input) +
             " is out of range; the indexed extents are " + text_of(b.extents));
  }
}

}  // namespace detail

TILEWRIGHT_INLINE std::vector<unsupported_operator> unsupported_operators(const graph& g) {
  std::map<std::tuple<std::string, std::string, int>, unsupported_operator> found;
  for (const node& n : g.nodes) {
    if (find_operator(n)) continue;
    unsupported_operator& u = found[{n.op, n.domain, n.version}];
    if (u.count++ == 0) u = {n.op, n.domain, n.version, 1, text_of(n)};
  }
  std::vector<unsupported_operator> out;
  for (auto& [key, u] : found) out.push_back(std::move(u));
  return out;
}

TILEWRIGHT_INLINE void infer_types(graph& g) {
  const std::vector<unsupported_operator> missing = unsupported_operators(g);
  if (!missing.empty()) {
    std::string text = "graph " + g.name + " has operators that are not supported:";
    for (const unsupported_operator& u : missing)
      text += "\n  " + (u.domain.empty() ? "" : u.domain + ".") + u.op + " (version " +
              std::to_string(u.version) + "): " + std::to_string(u.count) +
              (u.count == 1 ? " node, " : " nodes, the first is ") + u.first;
    throw argument_error(text);
  }
  for (value& v : g.values)
    if (v.data && !v.type) v.type = v.data->type();
  std::deque<node> waiting(std::make_move_iterator(g.nodes.begin()),
                           std::make_move_iterator(g.nodes.end()));
  g.nodes.clear();
  while (!waiting.empty()) {
    node n = std::move(waiting.front());
    waiting.pop_front();
    const operator_definition* op = find_operator(n);
    if (!op) fail(n, "this operator is not supported");  // inside a branch that was chosen
    if (op->expand) {
      expansion e(g, n);
      op->expand(e);
      waiting.insert(waiting.begin(), std::make_move_iterator(e.nodes.begin()),
                     std::make_move_iterator(e.nodes.end()));
      continue;
    }
    inference i(g, n);
    op->infer(i);
    if (op->bounds) detail::check_known_indices(*op, i);
    for (const value_id v : n.outputs)
      if (v != no_value && !g.at(v).type)
        fail(n, "the type of its output \"" + g.at(v).name + "\" is not known");
    if (!detail::is_constant(g, n) && detail::folds(g, n)) detail::fold(g, n);
    if (!detail::is_constant(g, n)) g.nodes.push_back(std::move(n));
  }
}

}  // namespace tilewright::network
