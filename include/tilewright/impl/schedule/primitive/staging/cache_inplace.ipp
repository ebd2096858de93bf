#pragma once

#include <algorithm>

#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/dependence/binding/element_index.hpp>
#include <tilewright/impl/dependence/concurrency.hpp>
#include <tilewright/impl/dependence/loads.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/impl/schedule/rewrite/cache_stage.hpp>
#include <tilewright/impl/schedule/rewrite/loop_rebinding.hpp>
#include <tilewright/ir/substitution.hpp>
#include <tilewright/schedule/primitive/staging/cache_inplace.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive {
namespace detail::caching_inplace {

using cache_stage::call;

/// The smallest box that is known to hold both ranges of a dimension of extent `whole`.
inline ir::range hull(const ir::range& a, const ir::range& b, const ir::expr& whole) {
  using arith::to_linear;
  const arith::linear start = difference(to_linear(b.min), to_linear(a.min));
  const arith::linear stop = difference(to_linear(b.min + b.extent), to_linear(a.min + a.extent));
  if (!start.is_constant() || !stop.is_constant()) return {ir::integer(whole.type(), 0), whole};
  const ir::expr min = start.constant < 0 ? b.min : a.min;
  const ir::expr end = stop.constant > 0 ? b.min + b.extent : a.min + a.extent;
  return {min, arith::from_linear(difference(to_linear(end), to_linear(min)))};
}

/// What the block touches of the buffer; nothing is known of one dimension: all of it.
inline std::vector<ir::range> touched_box(const ir::block_node& b, const ir::buffer& x) {
  std::vector<ir::range> out;
  for (const auto* list : {&b.reads, &b.writes})
    for (const ir::buffer_region& r : *list) {
      if (r.buffer != x) continue;
      if (out.empty()) {
        out = r.box;
        continue;
      }
      for (std::size_t d = 0; d < out.size(); ++d) out[d] = hull(out[d], r.box[d], x->shape[d]);
    }
  return out;
}

/// A buffer that the block writes and from which its guard, its values or the place of the box are
/// loaded: the copy back would find others. Null if there is none.
inline ir::buffer overwritten_place(const ir::block_realize_node& r,
                                    const std::vector<ir::range>& box) {
  for (const ir::buffer_region& w : r.block->writes)
    if (loads_around(r, w.buffer) ||
        support::any(box, [&](const ir::range& d) { return bounds_load(d, w.buffer); }))
      return w.buffer;
  return {};
}

/// Whether the block writes every element of the box, as far as its regions say.
inline bool writes_all(const ir::block_node& b, const ir::buffer& x,
                       const std::vector<ir::range>& box) {
  return support::any(b.writes, [&](const ir::buffer_region& w) {
    return w.buffer == x && same_box(w, {x, box});
  });
}

/// A copy of the box that one instance touches, guarded like the instance.
inline ir::stmt copy_nest(const ir::block_realize_node& instance, const std::vector<ir::range>& box,
                          const ir::buffer& from, const ir::buffer& to,
                          const arith::analyzer& outside, std::string name, std::uint64_t& id) {
  const ir::var_map bindings = ir::bindings(instance);
  arith::analyzer known = outside;
  known.assume(instance.predicate);
  ir::block_node b;
  b.name = std::move(name);
  std::vector<ir::expr> at, values, guard = ir::conjuncts(instance.predicate);
  std::vector<ir::var> axes;
  std::vector<ir::expr> extents;
  for (std::size_t d = 0; d < box.size(); ++d) {
    const auto [first, length] = ir::substitute(box[d], bindings);
    const bool wide = first.type() == dtype::i64 || length.type() == dtype::i64;
    const dtype type = wide ? dtype::i64 : from->shape[d].type();
    const ir::expr zero = ir::integer(type, 0), shape = ir::cast(type, from->shape[d]);
    extents.push_back(ir::cast(type, length));
    axes.push_back(ir::make_var("ax" + std::to_string(d), type));
    known.bind(axes.back(), {zero, extents.back()});
    const ir::expr value = ir::cast(type, first) + axes.back();
    if (!known.prove_le(zero, value)) guard.push_back(ir::ge(value, zero));
    if (!known.prove_lt(value, shape)) guard.push_back(ir::lt(value, shape));
    values.push_back(value);
    const ir::var v = ir::make_var("v" + std::to_string(d), type);
    b.iters.push_back({v, {zero, shape}, ir::iter_kind::spatial});
    at.push_back(v);
  }
  cache_stage::copy_element(b, from, at, to, at);
  const ir::block made = ir::make_block(std::move(b));
  id = made->id;
  return nest_around(axes, extents,
                     ir::make_realize(std::move(values), ir::conjunction(guard), made));
}

inline new_blocks inplace(const ir::function& f, std::uint64_t id, int index,
                          const std::string& storage) {
  const call c{"cache_inplace", storage};
  const path at = need_block(f, id, c.name);
  const cache_stage::subject s = cache_stage::look_up(c, at, index, true);
  const ir::buffer& x = s.buffer;
  const ir::block_realize_node& instance = *ir::as_realize(at.target());
  if (!writes_buffer(*instance.block, x))
    refusal{c.name}(3, {quoted(*instance.block), " does not write \"", x->name, "\""});
  const std::vector<ir::range> box = touched_box(*instance.block, x);
  if (const ir::buffer b = overwritten_place(instance, box))
    refusal{c.name}(5, {quoted(*instance.block), " writes \"", b->name,
                        "\", which says what it touches of \"", x->name, "\""});
  for (const ir::loop_node* l : at.all_loops())
    if (runs_at_once(*l) && !writes_all(*instance.block, x, box))
      refusal{c.name}(
          6, {quoted(*instance.block), " would copy elements of \"", x->name,
              "\" back that it only reads, while other iterations of ", quoted(*l), " run"});
  const std::string name = x->name + "_" + storage;
  const ir::buffer cache = cache_stage::make_cache(f, x, x->shape, storage, storage);
  const arith::analyzer outside = known_loops(at).analyzer();
  block_names names(f.body);
  const std::string first = names.fresh(name), second = names.fresh(name);
  new_blocks out;
  out.blocks.resize(2);
  const ir::stmt in = copy_nest(instance, box, x, cache, outside, first, out.blocks[0]);
  const ir::stmt back = copy_nest(instance, box, cache, x, outside, second, out.blocks[1]);
  const ir::stmt now = ir::make_realize(instance.values, instance.predicate,
                                        cache_stage::redirection(x, cache).mutate(instance.block));
  out.function = replace(f, at, ir::make_seq({in, now, back}));
  out.function = cache_stage::allocate_in(out.function, s.holder->block->id, cache);
  cache_stage::check_filled(refusal{c.name}, 4, find_block(out.function, out.blocks[0]), cache);
  return out;
}

}  // namespace detail::caching_inplace

TILEWRIGHT_INLINE new_blocks cache_inplace(const ir::function& f, std::uint64_t block,
                                           int read_buffer_index,
                                           const std::string& storage_scope) {
  return detail::caching_inplace::inplace(f, block, read_buffer_index, storage_scope);
}

}  // namespace tilewright::primitive
