#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/primitive/reductions/factored_sums.hpp>
#include <tilewright/impl/schedule/primitive/reductions/own_nest.hpp>
#include <tilewright/impl/schedule/primitive/reductions/tuple_value.hpp>
#include <tilewright/impl/schedule/rewrite/block_names.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/substitution.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive {
namespace detail::factored {

using joining::component;
using joining::values;

inline void add_factors(values& to, const ir::expr& e) {
  if (e->op != ir::op::mul) return to.push_back(e);
  add_factors(to, e->args[0]);
  add_factors(to, e->args[1]);
}

inline ir::expr product(const values& factors) {
  ir::expr out = factors[0];
  for (std::size_t i = 1; i < factors.size(); ++i) out = out * factors[i];
  return out;
}

inline double extent(const ir::iter_var& i) { return static_cast<double>(i.dom.extent->integer); }

/// A way to sum some axes first.
struct factoring {
  values inner, outer;              // factors of the sum that runs first, and of the other one
  std::vector<ir::iter_var> along;  // results of the sum that runs first
  std::vector<ir::iter_var> first;  // its reductions
  double work = 0;                  // multiplications of both
};

/// Multiplications and additions of so many factors to a sum, fused.
inline double multiplications(std::size_t factors) {
  return static_cast<double>(std::max<std::size_t>(factors, 2) - 1);
}

inline factoring factor(const ir::block_node& sum, const values& factors,
                        const ir::var_set& first) {
  factoring out;
  for (const ir::expr& f : factors) (ir::uses_any(f, first) ? out.inner : out.outer).push_back(f);
  double results = 1, terms = 1, others = 1;
  for (const ir::iter_var& i : sum.iters) {
    const auto uses = [&](const ir::expr& f) { return ir::uses_var(f, i.var); };
    if (first.count(i.var) > 0) {
      out.first.push_back(i);
      terms *= extent(i);
      continue;
    }
    others *= extent(i);
    if (support::none(out.inner, uses)) continue;
    out.along.push_back(i);
    results *= extent(i);
  }
  out.work = results * terms * multiplications(out.inner.size()) +
             others * multiplications(out.outer.size() + 1);
  return out;
}

/// The one that leaves the least work; nothing where all leave more than two thirds.
inline std::optional<factoring> best_factoring(const ir::block_node& sum, const values& factors) {
  constexpr std::size_t most_axes = 6;
  std::vector<ir::var> reduced;
  double work = multiplications(factors.size()) * 2 / 3;
  for (const ir::iter_var& i : sum.iters) {
    if (!ir::is_int(i.dom.extent) || i.dom.extent->integer < 1) return std::nullopt;
    work *= extent(i);
    if (i.kind == ir::iter_kind::reduce && i.dom.extent->integer > 1) reduced.push_back(i.var);
  }
  if (reduced.size() > most_axes) return std::nullopt;
  std::optional<factoring> best;
  for (unsigned set = 1; set < 1u << reduced.size(); ++set) {
    ir::var_set first;
    for (std::size_t i = 0; i < reduced.size(); ++i)
      if (set >> i & 1u) first.insert(reduced[i]);
    factoring way = factor(sum, factors, first);
    if (way.inner.empty() || way.outer.empty() || way.work > work) continue;
    work = way.work;
    best = std::move(way);
  }
  return best;
}

/// The sum that runs first: its nest, and what the other one loads of it.
inline std::pair<ir::stmt, ir::expr> inner_sum(const component& sum, const factoring& way,
                                               std::string name, const ir::buffer& to) {
  ir::block_node out;
  out.name = std::move(name);
  ir::var_map renamed;
  values loaded, at;
  const auto add = [&](ir::iter_var i) {
    const ir::var v = ir::make_var(i.var->name, i.var.type());
    renamed.emplace(i.var, v);
    i.var = v;
    out.iters.push_back(std::move(i));
  };
  for (ir::iter_var i : way.along) {
    loaded.push_back(i.var);
    i.kind = ir::iter_kind::spatial;
    add(std::move(i));
    at.push_back(out.iters.back().var);
  }
  if (at.empty()) at = loaded = {ir::integer(dtype::i32, 0)};
  for (const ir::iter_var& i : way.first) add(i);
  const ir::expr element = ir::substitute(product(way.inner), renamed);
  out.init = ir::make_store(to, at, sum.identity);
  out.body = ir::make_store(to, at, sum.plain.combine({ir::load(to, at)}, {element})[0]);
  out.reads = joining::loaded_elements({element});
  out.writes = {{to, ir::point_box(at)}};
  return {joining::nest_of(std::move(out)), ir::load(to, loaded)};
}

/// The nest of the sum over what is left, or of products where nothing is.
inline ir::stmt outer_sum(const ir::block_node& block, const component& sum, const factoring& way,
                          const ir::expr& inner) {
  ir::block_node out = block;
  out.id = 0;
  std::erase_if(out.iters, [&](const ir::iter_var& i) {
    return support::any(way.first, [&](const ir::iter_var& f) { return f.var.same(i.var); });
  });
  values factors = way.outer;
  factors.push_back(inner);
  const ir::expr element = product(factors);
  const bool sums = support::any(
      out.iters, [](const ir::iter_var& i) { return i.kind == ir::iter_kind::reduce; });
  if (!sums) out.init = {};
  out.body = ir::make_store(
      sum.to, sum.at, sums ? sum.plain.combine({ir::load(sum.to, sum.at)}, {element})[0] : element);
  out.reads = joining::loaded_elements({element});
  return joining::nest_of(std::move(out));
}

/// The function with one sum taken apart; nothing where none is better so.
inline std::optional<ir::function> factor_one(const ir::function& f) {
  const block_scope scope(*ir::root_block(f));
  if (!scope.schedulable()) return std::nullopt;
  for (std::size_t c = 0; c < scope.size(); ++c) {
    const std::optional<component> sum = joining::single_of(scope, c);
    if (!sum || sum->plain.name != "sum" || bits(sum->to->type) < 32) continue;
    const ir::block_node& block = scope[c].block();
    values factors;
    add_factors(factors, sum->element);
    const std::optional<factoring> way = best_factoring(block, factors);
    if (!way) continue;
    values shape;
    for (const ir::iter_var& i : way->along) shape.push_back(i.dom.extent);
    if (shape.empty()) shape = {ir::integer(dtype::i32, 1)};
    const std::string name = fresh_block_name(f, block.name + "_inner");
    const ir::buffer to = ir::make_buffer(name, sum->to->type, shape);
    const auto [nest, inner] = inner_sum(*sum, *way, name, to);
    const ir::stmt rest = outer_sum(block, *sum, *way, inner);
    return joining::change_buffers(joining::put_nests(f, block.id, {nest, rest}), {to}, {});
  }
  return std::nullopt;
}

}  // namespace detail::factored

TILEWRIGHT_INLINE std::optional<ir::function> factor_sums(const ir::function& f) {
  constexpr int most = 16;
  std::optional<ir::function> out;
  for (int i = 0; i < most; ++i) {
    std::optional<ir::function> next = detail::factored::factor_one(out ? *out : f);
    if (!next) break;
    out = std::move(next);
  }
  return out;
}

}  // namespace tilewright::primitive
