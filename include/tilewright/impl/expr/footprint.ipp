#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include <tilewright/expr/footprint.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/visit.hpp>

namespace tilewright::dsl {
namespace detail {

inline bool same_expr(const ir::expr& a, const ir::expr& b) {
  if (a.same(b)) return true;
  if (a->op != b->op || a->type != b->type || a->integer != b->integer || a->real != b->real ||
      a->op == ir::op::var || a->name != b->name || !(a->buffer == b->buffer) ||
      a->args.size() != b->args.size())
    return false;
  for (std::size_t k = 0; k < a->args.size(); ++k)
    if (!same_expr(a->args[k], b->args[k])) return false;
  return true;
}

/// Sum of factor * term + constant.
struct index_sum {
  std::vector<std::pair<ir::expr, std::int64_t>> terms;
  std::int64_t constant = 0;

  void add(const ir::expr& e, std::int64_t factor) {
    switch (e->op) {
      case ir::op::integer: constant += factor * e->integer; return;
      case ir::op::add:
        add(e->args[0], factor);
        add(e->args[1], factor);
        return;
      case ir::op::sub:
        add(e->args[0], factor);
        add(e->args[1], -factor);
        return;
      case ir::op::mul:
        if (ir::is_int(e->args[1])) return add(e->args[0], factor * e->args[1]->integer);
        if (ir::is_int(e->args[0])) return add(e->args[1], factor * e->args[0]->integer);
        break;
      default: break;
    }
    for (auto& [term, f] : terms)
      if (same_expr(term, e)) {
        f += factor;
        return;
      }
    terms.emplace_back(e, factor);
  }
};

/// b - a where that is a constant.
inline std::optional<std::int64_t> constant_difference(const ir::expr& a, const ir::expr& b) {
  index_sum sum;
  sum.add(b, 1);
  sum.add(a, -1);
  for (const auto& term : sum.terms)
    if (term.second != 0) return std::nullopt;
  return sum.constant;
}

/// All loads of one buffer, at one dimension.
inline ir::range span_of(const ir::buffer& buffer, const std::vector<ir::expr>& loads,
                         std::size_t d) {
  const ir::expr& base = loads.front()->args[d];
  const ir::expr& extent = buffer->shape[d];
  const ir::range whole{ir::integer(extent.type(), 0), extent};
  std::int64_t low = 0, high = 0;
  const ir::expr* lowest = &base;
  for (const ir::expr& load : loads) {
    const ir::expr& index = load->args[d];
    if (ir::reads_memory(index)) return whole;
    const auto difference = constant_difference(base, index);
    if (!difference) return whole;
    if (*difference < low) {
      low = *difference;
      lowest = &index;
    }
    high = std::max(high, *difference);
  }
  return {*lowest, ir::integer(base.type(), high - low + 1)};
}

}  // namespace detail

TILEWRIGHT_INLINE std::vector<ir::buffer_region> footprint(const std::vector<ir::expr>& values) {
  std::vector<std::pair<ir::buffer, std::vector<ir::expr>>> loads;
  for (const ir::expr& value : values)
    ir::for_each_expr(value, [&](const ir::expr& e) {
      if (e->op != ir::op::load) return;
      for (auto& [buffer, list] : loads)
        if (buffer == e->buffer) return list.push_back(e);
      loads.push_back({e->buffer, {e}});
    });
  std::vector<ir::buffer_region> out;
  for (const auto& [buffer, list] : loads) {
    ir::buffer_region region{buffer, {}};
    for (std::size_t d = 0; d < buffer->shape.size(); ++d)
      region.box.push_back(detail::span_of(buffer, list, d));
    out.push_back(std::move(region));
  }
  return out;
}

}  // namespace tilewright::dsl
