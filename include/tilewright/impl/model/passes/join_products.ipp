#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/model/passes/uses.hpp>
#include <tilewright/model/passes.hpp>
#include <tilewright/model/window.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/find.hpp>

namespace tilewright::network {
namespace detail {

/// A product with constants, and the nodes behind it that others may have, too: a bias, an activation.
struct constant_product {
  std::size_t node = 0;
  std::vector<std::size_t> tail;  // nodes
  value_id end = no_value;        // that the last of them makes
};

class product_joiner {
 public:
  explicit product_joiner(graph& g) : g_(g), uses_(g), is_gone_(g.nodes.size(), false) {
    readers_.resize(g.values.size());
    for (std::size_t k = 0; k < g.nodes.size(); ++k)
      for (const value_id v : g.nodes[k].inputs)
        if (v != no_value) readers_[static_cast<std::size_t>(v)].push_back(k);
  }

  void run() {
    std::vector<std::vector<constant_product>> groups;
    for (std::size_t k = 0; k < g_.nodes.size(); ++k) {
      if (!is_product(g_.nodes[k])) continue;
      const constant_product p = with_tail(k);
      if (!is_read_in_place(p.end)) continue;
      const auto group =
          support::find(groups, [&](const auto& known) { return go_together(known.front(), p); });
      if (group == groups.end())
        groups.push_back({p});
      else
        group->push_back(p);
    }
    std::vector<std::vector<node>> instead(g_.nodes.size());  // behind the node
    for (const auto& group : groups)
      if (group.size() > 1) instead[group.front().node] = joined(group);
    std::vector<node> out;
    for (std::size_t k = 0; k < is_gone_.size(); ++k) {
      if (!is_gone_[k]) out.push_back(std::move(g_.nodes[k]));
      for (node& n : instead[k]) out.push_back(std::move(n));
    }
    g_.nodes = std::move(out);
  }

 private:
  static constexpr std::size_t longest_tail = 3;

  /// Columns, or channels, are the last dimension of its constants and of its result.
  bool is_product(const node& n) const {
    if (!n.domain.empty() || n.outputs.size() != 1 || n.inputs.size() < 2) return false;
    if (n.inputs[0] == no_value || g_.at(n.inputs[0]).data) return false;
    if (n.has_input(2) && !is_vector(n.inputs[2], g_.type_of(n.outputs[0]).extents.back()))
      return false;
    const std::optional<constant>& b = g_.at(n.inputs[1]).data;
    if (!b) return false;
    if (n.op == "Conv") return is_channels_last(n) && n.integer("group", 1) == 1;
    if (n.op == "Gemm") return n.integer("transB", 0) == 0;
    return n.op == "MatMul" && b->type().extents.size() == 2;
  }
  bool is_vector(value_id v, std::int64_t extent) const {
    const std::optional<constant>& c = g_.at(v).data;
    return c && c->type().extents == shape{extent};
  }

  constant_product with_tail(std::size_t k) const {
    constant_product p{k, {}, g_.nodes[k].outputs[0]};
    const std::int64_t columns = g_.type_of(p.end).extents.back();
    while (p.tail.size() < longest_tail && uses_.of(p.end) == 1) {
      const std::vector<std::size_t>& next = readers_[static_cast<std::size_t>(p.end)];
      if (next.size() != 1) break;  // the outside reads it
      const node& n = g_.nodes[next[0]];
      const bool bias = n.domain.empty() && n.op == "Add" && is_vector(constant_side(n), columns);
      if (!bias && !(n.domain.empty() && n.op == "Relu")) break;
      p.tail.push_back(next[0]);
      p.end = n.outputs[0];
    }
    return p;
  }
  value_id constant_side(const node& add) const {
    return g_.at(add.inputs[0]).data ? add.inputs[0] : add.inputs[1];
  }

  /// A part of the wide result can be read where it lies; for Concat and the outside it is copied.
  bool is_read_in_place(value_id v) const {
    const std::vector<std::size_t>& all = readers_[static_cast<std::size_t>(v)];
    return all.size() == static_cast<std::size_t>(uses_.of(v)) &&
           support::none(all, [&](std::size_t k) { return g_.nodes[k].op == "Concat"; });
  }

  bool go_together(const constant_product& x, const constant_product& y) const {
    const node &a = g_.nodes[x.node], &b = g_.nodes[y.node];
    if (a.op != b.op || a.inputs[0] != b.inputs[0] || a.has_input(2) != b.has_input(2) ||
        x.tail.size() != y.tail.size())
      return false;
    tensor_type f = g_.type_of(a.inputs[1]), h = g_.type_of(b.inputs[1]);
    f.extents.back() = h.extents.back() = 1;
    if (f != h) return false;
    for (const char* name : {"strides", "pads", "dilations", "kernel_shape"})
      if (a.integers(name) != b.integers(name)) return false;
    for (const char* name : {"alpha", "beta"})
      if (a.real(name, 1) != b.real(name, 1)) return false;
    if (a.integer("transA", 0) != b.integer("transA", 0)) return false;
    if (a.text("auto_pad", "NOTSET") != b.text("auto_pad", "NOTSET")) return false;
    for (std::size_t k = 0; k < x.tail.size(); ++k)
      if (g_.nodes[x.tail[k]].op != g_.nodes[y.tail[k]].op) return false;
    return true;
  }

  // ---- making ----

  value_id add_value(std::string name, tensor_type type) {
    value v;
    v.name = std::move(name);
    v.type = std::move(type);
    return g_.add(std::move(v));
  }
  value_id add_constant(std::string name, constant c) {
    const value_id v = add_value(std::move(name), c.type());
    g_.at(v).data = std::move(c);
    return v;
  }

  /// Constants side by side along the last dimension.
  value_id beside(const std::vector<value_id>& parts) {
    tensor_type type = g_.type_of(parts[0]);
    type.extents.back() = 0;
    for (const value_id v : parts) type.extents.back() += g_.type_of(v).extents.back();
    auto [all, to] = constant::make(type);
    const std::int64_t size = bytes(type.type), rows = type.elements() / type.extents.back();
    for (std::int64_t row = 0; row < rows; ++row)
      for (const value_id v : parts) {
        const auto length = static_cast<std::size_t>(g_.type_of(v).extents.back() * size);
        std::memcpy(to, g_.at(v).data->data() + static_cast<std::size_t>(row) * length, length);
        to += length;
      }
    return add_constant(g_.at(parts[0]).name + ".wide", std::move(all));
  }

  std::vector<node> joined(const std::vector<constant_product>& group) {
    const auto of_all = [&](const auto& value_of) {
      std::vector<value_id> out;
      for (const constant_product& p : group) out.push_back(value_of(p));
      return out;
    };
    std::vector<node> out{g_.nodes[group[0].node]};
    for (std::size_t input = 1; input < out[0].inputs.size(); ++input)
      if (out[0].has_input(input))
        out[0].inputs[input] =
            beside(of_all([&](const auto& p) { return g_.nodes[p.node].inputs[input]; }));
    for (std::size_t k = 0; k < group[0].tail.size(); ++k) {
      node n = g_.nodes[group[0].tail[k]];
      const value_id bias = n.op == "Add" ? constant_side(n) : no_value;
      for (value_id& v : n.inputs)
        if (v == bias)
          v = beside(of_all([&](const auto& p) { return constant_side(g_.nodes[p.tail[k]]); }));
      out.push_back(std::move(n));
    }
    std::int64_t columns = 0;
    for (const constant_product& p : group) columns += g_.type_of(p.end).extents.back();
    for (std::size_t k = 0; k < out.size(); ++k) {
      const value_id before = out[k].outputs[0];
      tensor_type type = g_.type_of(before);
      type.extents.back() = columns;
      const value_id wide = add_value(g_.at(before).name + ".wide", std::move(type));
      out[k].outputs = {wide};
      out[k].name += ".wide";
      if (k + 1 < out.size())
        std::replace(out[k + 1].inputs.begin(), out[k + 1].inputs.end(), before, wide);
    }
    const value_id wide = out.back().outputs[0];
    std::int64_t at = 0;
    for (const constant_product& p : group) {
      out.push_back(slice(wide, p.end, at));
      at += g_.type_of(p.end).extents.back();
      is_gone_[p.node] = true;
      for (const std::size_t k : p.tail) is_gone_[k] = true;
    }
    return out;
  }

  /// `to` as the columns of `wide` from `first` on.
  node slice(value_id wide, value_id to, std::int64_t first) {
    const shape extents = g_.type_of(to).extents;
    const std::string name = g_.at(to).name;
    const auto numbers = [&](const char* what, std::int64_t x) {
      return add_constant(name + what, constant::of_integers({x}));
    };
    node n;
    n.name = name + ".part";
    n.op = "Slice";
    n.version = 13;
    n.outputs = {to};
    n.inputs = {wide, numbers(".first", first), numbers(".end", first + extents.back()),
                numbers(".axis", static_cast<std::int64_t>(extents.size()) - 1)};
    return n;
  }

  graph& g_;
  value_uses uses_;
  std::vector<bool> is_gone_;                      // [nodes]
  std::vector<std::vector<std::size_t>> readers_;  // [values] nodes
};

}  // namespace detail

TILEWRIGHT_INLINE void join_products(graph& g) { detail::product_joiner(g).run(); }

}  // namespace tilewright::network
