// A sum of products as two sums: the inner sum runs over some of the axes and multiplies the factors that move along these; the outer
// sum runs over the other axes and multiplies the remaining factors and the inner sum.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/schedule/primitive/reductions/own_nest.hpp>
#include <tilewright/impl/schedule/primitive/reductions/product_factors.hpp>
#include <tilewright/impl/schedule/primitive/reductions/tuple_value.hpp>
#include <tilewright/impl/schedule/rewrite/block_names.hpp>
#include <tilewright/ir/substitution.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive::detail::factored {

using joining::component;
using joining::values;

/// Whether the sum may be taken as a sum of other terms. A sum of fewer than 32 bits would be rounded, or would wrap, once more, and
/// a sum of shares before their division is out of range where the shares are in range: f16 sums of attention pass 65,504 so.
inline bool may_be_in_two(const component& c) {
  return c.plain.name == "sum" && bits(c.to->type) >= 32;
}

/// A way to sum some axes first.
struct factoring {
  product_factors inner, outer;  // factors of the inner sum, which runs first, and of the outer one
  std::vector<ir::iter_var> along;  // the variables of the inner sum's results
  std::vector<ir::iter_var> first;  // the variables that the inner sum reduces
};

/// The way that sums over `first` first.
inline factoring factoring_of(const ir::block_node& sum, const product_factors& factors,
                              const ir::var_set& first) {
  factoring out;
  for (const product_factor& f : factors)
    (ir::uses_any(f.value, first) ? out.inner : out.outer).push_back(f);
  for (const ir::iter_var& i : sum.iters) {
    const auto uses = [&](const product_factor& f) { return ir::uses_var(f.value, i.var); };
    if (first.count(i.var) > 0)
      out.first.push_back(i);
    else if (support::any(out.inner, uses))
      out.along.push_back(i);
  }
  return out;
}

/// The inner sum: its nest, and the element of it that the outer sum loads.
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
  const ir::expr element = ir::substitute(product(way.inner, to->type), renamed);
  out.init = ir::make_store(to, at, sum.identity);
  out.body = ir::make_store(to, at, sum.plain.combine({ir::load(to, at)}, {element})[0]);
  out.reads = joining::loaded_elements({element});
  out.writes = {{to, ir::point_box(at)}};
  return {joining::nest_of(std::move(out)), ir::load(to, loaded)};
}

/// The nest of the outer sum, or of products alone where no axis is left to sum.
inline ir::stmt outer_sum(const ir::block_node& block, const component& sum, const factoring& way,
                          const ir::expr& inner, std::string name) {
  ir::block_node out = block;
  out.id = 0;
  out.name = std::move(name);
  std::erase_if(out.iters, [&](const ir::iter_var& i) {
    return support::any(way.first, [&](const ir::iter_var& f) { return f.var.same(i.var); });
  });
  product_factors factors = way.outer;
  factors.push_back({inner});
  const ir::expr element = product(factors, sum.to->type);
  const bool sums = support::any(
      out.iters, [](const ir::iter_var& i) { return i.kind == ir::iter_kind::reduce; });
  if (!sums) out.init = {};
  out.body = ir::make_store(
      sum.to, sum.at, sums ? sum.plain.combine({ir::load(sum.to, sum.at)}, {element})[0] : element);
  out.reads = joining::loaded_elements({element});
  return joining::nest_of(std::move(out));
}

/// Which of both sums keeps the name of the block: the outer sum, which makes the result, or the inner one.
enum class named_sum { outer, inner };

/// The function with the sum of `block` in two. The other sum is named after the block, with `_inner` or `_scaled` behind.
inline ir::function in_two(const ir::function& f, const ir::block_node& block, const component& sum,
                           const factoring& way, named_sum named = named_sum::outer) {
  values shape;
  for (const ir::iter_var& i : way.along) shape.push_back(i.dom.extent);
  if (shape.empty()) shape = {ir::integer(dtype::i32, 1)};
  const bool inner_is_named = named == named_sum::inner;
  const std::string added =
      fresh_block_name(f, block.name + (inner_is_named ? "_scaled" : "_inner"));
  const ir::buffer to =
      ir::make_buffer(inner_is_named ? block.name + "_sum" : added, sum.to->type, shape);
  const auto [nest, inner] = inner_sum(sum, way, inner_is_named ? block.name : added, to);
  const ir::stmt rest = outer_sum(block, sum, way, inner, inner_is_named ? added : block.name);
  return joining::change_buffers(joining::put_nests(f, block.id, {nest, rest}), {to}, {});
}

}  // namespace tilewright::primitive::detail::factored
