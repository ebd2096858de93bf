// How much of a sum over padded data lies in the data.
//
// A convolution that reads zeros beside its image multiplies by them where its author did not ask for
// arithmetic: a schedule may leave these terms out, so a yardstick may not count them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include <tilewright/ir/stmt.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/find.hpp>

namespace tilewright::search::detail {

/// The values of iteration variables at one point.
using iteration_point = std::map<const ir::expr_node*, std::int64_t>;

/// An integer or boolean at a point; nothing where it depends on anything else, or divides by zero.
inline std::optional<std::int64_t> value_at(const ir::expr& e, const iteration_point& at) {
  if (ir::is_int(e)) return ir::as_int(e);
  if (ir::is_var(e)) {
    const auto found = at.find(e.get());
    return found == at.end() ? std::nullopt : std::optional(found->second);
  }
  if (e->op == ir::op::cast) return value_at(e->args[0], at);
  if (e->op == ir::op::logical_not) {
    const auto a = value_at(e->args[0], at);
    return a ? std::optional<std::int64_t>(*a == 0) : std::nullopt;
  }
  if (e->args.size() != 2) return std::nullopt;
  const auto left = value_at(e->args[0], at), right = value_at(e->args[1], at);
  if (!left || !right) return std::nullopt;
  const std::int64_t a = *left, b = *right;
  const auto floordiv = [&] { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); };
  switch (e->op) {
    case ir::op::add: return a + b;
    case ir::op::sub: return a - b;
    case ir::op::mul: return a * b;
    case ir::op::floordiv: return b == 0 ? std::nullopt : std::optional(floordiv());
    case ir::op::floormod: return b == 0 ? std::nullopt : std::optional(a - floordiv() * b);
    case ir::op::min: return std::min(a, b);
    case ir::op::max: return std::max(a, b);
    case ir::op::eq: return a == b;
    case ir::op::ne: return a != b;
    case ir::op::lt: return a < b;
    case ir::op::le: return a <= b;
    case ir::op::gt: return a > b;
    case ir::op::ge: return a >= b;
    case ir::op::logical_and: return a != 0 && b != 0;
    case ir::op::logical_or: return a != 0 || b != 0;
    default: return std::nullopt;
  }
}

/// Finds the share of a block's iterations whose term is not a product with a zero beside the data.
class data_shares {
 public:
  explicit data_shares(const ir::function& f) {
    ir::for_each_stmt(f.body, [&](const ir::stmt& s) {
      if (const auto* r = ir::as_realize(s)) note_padding(*r->block);
    });
  }

  /// 1 where the block is no sum, or where it cannot be told.
  double of(const ir::block_node& b) const {
    const ir::store_node* store = b.init ? ir::as_store(b.body) : nullptr;
    if (!store || store->value->op != ir::op::add) return 1;
    const ir::expr &a = store->value->args[0], &c = store->value->args[1];
    const auto is_sum = [&](const ir::expr& e) {
      return e->op == ir::op::load && e->buffer == store->buffer;
    };
    if (is_sum(a) == is_sum(c)) return 1;
    std::vector<ir::expr> conditions;
    add_conditions(is_sum(a) ? c : a, conditions);
    double out = 1;
    while (!conditions.empty()) out *= share(b, joined(conditions));
    return out;
  }

 private:
  struct padding {
    std::vector<ir::expr> variables;   // at which an element is stored
    std::vector<ir::expr> conditions;  // under which it is not zero
  };

  static bool is_zero(const ir::expr& e) {
    return (e->op == ir::op::real && e->real == 0) || ir::is_int(e, 0);
  }

  static void add_parts(const ir::expr& condition, std::vector<ir::expr>& out) {
    if (condition->op != ir::op::logical_and) return out.push_back(condition);
    for (const ir::expr& part : condition->args) add_parts(part, out);
  }

  /// A buffer of which each element is one of the data or zero.
  void note_padding(const ir::block_node& b) {
    const ir::store_node* store = b.init ? nullptr : ir::as_store(b.body);
    if (!store || !support::all(store->indices, ir::is_var)) return;
    padding p{store->indices, {}};
    add_conditions(store->value, p.conditions);
    if (!p.conditions.empty()) paddings_.emplace(store->buffer.get(), std::move(p));
  }

  /// Adds what has to hold for `e` not to be zero, as far as it shows.
  void add_conditions(const ir::expr& e, std::vector<ir::expr>& out) const {
    switch (e->op) {
      case ir::op::mul:
        for (const ir::expr& factor : e->args) add_conditions(factor, out);
        return;
      case ir::op::cast: return add_conditions(e->args[0], out);
      case ir::op::select:
      case ir::op::if_then_else:
        if (!is_zero(e->args[2])) return;
        add_parts(e->args[0], out);
        return add_conditions(e->args[1], out);
      case ir::op::load: {
        const auto at = paddings_.find(e->buffer.get());
        if (at == paddings_.end()) return;
        ir::var_map map;
        for (std::size_t d = 0; d < e->args.size(); ++d)
          map.emplace(at->second.variables[d], e->args[d]);
        for (const ir::expr& c : at->second.conditions) out.push_back(ir::substitute(c, map));
        return;
      }
      default: return;
    }
  }

  static std::vector<const ir::expr_node*> variables_of(const ir::expr& e) {
    std::vector<const ir::expr_node*> out;
    ir::for_each_expr(e, [&](const ir::expr& x) {
      if (ir::is_var(x) && !support::contains(out, x.get())) out.push_back(x.get());
    });
    return out;
  }

  struct group {
    std::vector<ir::expr> conditions;
    std::vector<const ir::expr_node*> variables;
  };

  /// Takes out the last condition and all that share variables with it, directly or not.
  static group joined(std::vector<ir::expr>& all) {
    group out{{all.back()}, variables_of(all.back())};
    all.pop_back();
    for (std::size_t i = 0; i < all.size();) {
      const auto own = variables_of(all[i]);
      const bool shares = support::any(
          own, [&](const ir::expr_node* v) { return support::contains(out.variables, v); });
      if (!shares) {
        ++i;
        continue;
      }
      for (const ir::expr_node* v : own)
        if (!support::contains(out.variables, v)) out.variables.push_back(v);
      out.conditions.push_back(all[i]);
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
      i = 0;
    }
    return out;
  }

  /// The share of the points of the group's variables at which all of its conditions hold.
  static double share(const ir::block_node& b, const group& g) {
    constexpr std::int64_t most_points = 1 << 18;
    std::vector<std::int64_t> first, extents;
    std::int64_t points = 1;
    for (const ir::expr_node* v : g.variables) {
      const auto it =
          support::find(b.iters, [&](const ir::iter_var& i) { return i.var.get() == v; });
      if (it == b.iters.end() || !ir::is_int(it->dom.min) || !ir::is_int(it->dom.extent)) return 1;
      first.push_back(ir::as_int(it->dom.min));
      extents.push_back(ir::as_int(it->dom.extent));
      if (extents.back() <= 0 || points > most_points / extents.back()) return 1;
      points *= extents.back();
    }
    std::int64_t inside = 0;
    iteration_point at;
    for (std::int64_t n = 0; n < points; ++n) {
      std::int64_t rest = n;
      for (std::size_t d = 0; d < g.variables.size(); rest /= extents[d], ++d)
        at[g.variables[d]] = first[d] + rest % extents[d];
      bool holds = true;
      for (const ir::expr& c : g.conditions) {
        const std::optional<std::int64_t> v = value_at(c, at);
        if (!v) return 1;
        holds = holds && *v != 0;
      }
      inside += holds;
    }
    return static_cast<double>(inside) / static_cast<double>(points);
  }

  std::map<const ir::buffer_node*, padding> paddings_;
};

}  // namespace tilewright::search::detail
