#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <tilewright/impl/model/operators/slice_spec.hpp>
#include <tilewright/model/operators.hpp>
#include <tilewright/model/passes.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::network {
namespace detail {

class part_placer {
 public:
  explicit part_placer(graph& g)
      : g_(g), is_bound_(g.values.size(), false), is_written_(g.values.size(), false) {
    for (const auto* outside : {&g.inputs, &g.outputs})
      for (const value_id v : *outside) bind(v);
    for (const node& n : g.nodes) {
      const operator_definition* op = find_operator(n);
      if (!op) continue;
      if (op->kind == op_kind::alias) bind(n.inputs[0]);
      if (op->bounds)  // indices are checked where they lie
        for (const index_bound& b : op->bounds(node_view(g, n))) bind(n.inputs[b.input]);
    }
  }

  void run() {
    std::vector<node> nodes = std::move(g_.nodes);
    g_.nodes.clear();
    for (node& n : nodes) {
      if (n.domain.empty() && n.op == "Slice" && is_part(n)) become("Part", n);
      if (n.domain.empty() && n.op == "Concat") join(n);
      const operator_definition* op = find_operator(n);
      const bool lies_elsewhere = op && (op->kind == op_kind::alias || op->kind == op_kind::part);
      for (const value_id v : n.outputs)
        if (v != no_value) at(is_written_, v) = !lies_elsewhere;
      g_.nodes.push_back(std::move(n));
    }
  }

 private:
  static std::vector<bool>::reference at(std::vector<bool>& of, value_id v) {
    return of[static_cast<std::size_t>(v)];
  }
  void bind(value_id v) { at(is_bound_, v) = true; }

  static void become(const char* op, node& n) {
    n.op = op;
    n.domain = "tilewright";
    n.version = 1;
  }

  /// Vectors are read along the last dimension: a slice with steps there is copied once instead.
  bool is_part(const node& n) {
    const slice_spec s = slice_of(node_view(g_, n));
    return !at(is_bound_, n.outputs[0]) && elements_of(s.length) > 0 &&
           support::all(s.step, [](std::int64_t x) { return x > 0; }) &&
           (s.step.empty() || s.step.back() == 1);
  }

  /// Whether the kernel that makes a value may write it into the result of n.
  bool can_write(value_id v, const node& n) {
    return at(is_written_, v) && !at(is_bound_, v) &&
           std::count(n.inputs.begin(), n.inputs.end(), v) == 1;
  }

  void join(node& n) {
    const bool some = support::any(n.inputs, [&](value_id v) { return can_write(v, n); });
    const bool all =
        support::all(n.inputs, [&](value_id v) { return g_.type_of(v).elements() > 0; });
    if (!some || !all) return;
    const node before = n;
    for (value_id& v : n.inputs)
      if (can_write(v, before))
        bind(v);
      else
        v = copied(v);
    become("Join", n);
  }

  value_id copied(value_id v) {
    value x;
    x.name = g_.at(v).name + ".copy";
    x.type = g_.type_of(v);
    node n;
    n.name = x.name;
    n.inputs = {v};
    n.outputs = {g_.add(std::move(x))};
    become("Copy", n);
    is_bound_.push_back(true);
    is_written_.push_back(true);
    g_.nodes.push_back(n);
    return n.outputs[0];
  }

  graph& g_;
  /// [values] has to lie densely, or lies in a result already: it becomes part of no other one.
  std::vector<bool> is_bound_;
  std::vector<bool> is_written_;  // [values] by a kernel, or joined by parts that kernels write
};

}  // namespace detail

TILEWRIGHT_INLINE void place_parts(graph& g) { detail::part_placer(g).run(); }

}  // namespace tilewright::network
