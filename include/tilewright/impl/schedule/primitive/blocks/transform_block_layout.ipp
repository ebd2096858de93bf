#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include <tilewright/arith/index_layout.hpp>
#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/dependence/binding/element_index.hpp>
#include <tilewright/impl/dependence/ragged_nest.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/legality/scoped_block.hpp>
#include <tilewright/impl/schedule/rewrite/access_simplifier.hpp>
#include <tilewright/impl/schedule/rewrite/map_binding.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/primitive/blocks/transform_block_layout.hpp>

namespace tilewright::primitive {
namespace detail::block_layouts {

inline constexpr refusal refuse{"transform_block_layout"};

/// Path to the outermost of the loops around the block, or to the block, after requirements 2
/// and 3.
inline path whole_nest(const path& at, const ir::block_realize_node& realize) {
  const loop_nest loops = at.loops();
  if (!is_trivial_binding({&realize, loops}) || !ir::is_true(realize.predicate))
    refuse(2, {quoted(*realize.block), " is not bound to the loops around it, one by one"});
  check_sight(refuse, 2, at);
  if (const ir::loop_node* uneven = uneven_loop({&realize, loops}))
    refuse(3, {"the bounds of ", quoted(*uneven), " are not the same throughout"});
  path head = at;
  for (std::size_t i = loops.size(); i-- > 0;) {
    if (loops[i]->body != head.target())
      refuse(3, {quoted(*loops[i]), " holds more than the nest of ", quoted(*realize.block)});
    if (!ir::is_int(loops[i]->min, 0) || !ir::is_int(realize.block->iters[i].dom.min, 0))
      refuse(3, {quoted(*loops[i]), " or its variable does not start at 0"});
    if (!arith::same_value(loops[i]->extent, realize.block->iters[i].dom.extent))
      refuse(3, {quoted(*loops[i]), " does not run over the whole domain of its variable"});
    do head.slots.pop_back();
    while (!ir::as_loop(head.target()));
  }
  return head;
}

/// The instances may run in another order: each reads of what the block writes the elements that it
/// alone writes.
inline void check_order(const child_block& c) {
  for (const ir::iter_var& i : c.block().iters)
    if (i.kind != ir::iter_kind::spatial && i.kind != ir::iter_kind::reduce)
      refuse(6, {quoted(c), " has an iterator that must run in order"});
  if (const ir::buffer x = read_of_others(c.block()))
    refuse(6, {quoted(c), " reads elements of \"", x->name, "\" that other instances of it write"});
  if (!writes_once(c)) refuse(6, {"several instances of ", quoted(c), " write the same elements"});
}

/// The kind of a result of the map; nothing when it mixes kinds.
inline std::optional<ir::iter_kind> kind_of(const ir::expr& result, const ir::index_map& map,
                                            const ir::block_node& block) {
  std::optional<ir::iter_kind> out;
  for (std::size_t i = 0; i < map.inputs.size(); ++i) {
    if (!ir::uses_var(result, map.inputs[i]) || ir::is_int(block.iters[i].dom.extent, 1)) continue;
    if (out && *out != block.iters[i].kind) return std::nullopt;
    out = block.iters[i].kind;
  }
  return out.value_or(ir::iter_kind::spatial);
}

/// The new variables; a result that is a constant of a wider type than the old variables have keeps
/// its type.
inline std::vector<ir::iter_var> new_iters(const ir::block_node& old, const ir::index_map& given,
                                           const ir::index_map& map,
                                           const arith::index_layout& layout) {
  arith::analyzer domains;
  for (std::size_t i = 0; i < map.inputs.size(); ++i) domains.bind(map.inputs[i], old.iters[i].dom);
  std::vector<ir::iter_var> out;
  for (std::size_t k = 0; k < map.outputs.size(); ++k) {
    const auto kind = kind_of(domains.simplify(map.outputs[k]), map, old);
    if (!kind)
      refuse(4, {"result ", k, " of the map mixes variables of different kinds of ", quoted(old)});
    const bool wide = ir::is_int(given.outputs[k]) && given.outputs[k].type() == dtype::i64;
    const dtype type = wide ? dtype::i64 : layout.axes[k].type();
    out.push_back({ir::make_var("v" + std::to_string(k), type),
                   {ir::integer(type, 0), ir::cast(type, layout.shape[k])},
                   *kind});
  }
  return out;
}

}  // namespace detail::block_layouts

TILEWRIGHT_INLINE ir::function transform_block_layout(const ir::function& f, std::uint64_t block,
                                                      const ir::index_map& given) {
  using namespace detail::block_layouts;
  const path at = need_block(f, block, "transform_block_layout");
  const ir::block_realize_node& realize = *ir::as_realize(at.target());
  const ir::block_node& old = *realize.block;
  if (given.inputs.size() != old.iters.size())
    refuse(1, {"the map takes ", given.inputs.size(), " indices; ", quoted(old), " has ",
               old.iters.size(), " iteration variables"});
  const path head = whole_nest(at, realize);
  check_order({&realize, at.loops()});
  const dtype type = old.iters.empty() ? dtype::i32 : old.iters[0].var.type();
  const ir::index_map map = detail::bind_map(given, f, type);
  std::vector<ir::expr> extents;
  for (const ir::iter_var& i : old.iters) extents.push_back(ir::cast(type, i.dom.extent));
  const arith::analyzer known;
  const arith::index_layout layout = arith::lay_out(map, extents, known);
  if (!layout.has_inverse() || !ir::is_int(layout.padding, 0))
    refuse(5, {"the map ", ir::print(map), " is not a bijection from the domains of ", quoted(old),
               " to a box"});

  ir::block_node made = old;
  made.iters = new_iters(old, given, map, layout);
  ir::var_map axes, values;
  for (std::size_t k = 0; k < made.iters.size(); ++k)
    axes.emplace(layout.axes[k], ir::cast(layout.axes[k].type(), made.iters[k].var));
  for (std::size_t i = 0; i < old.iters.size(); ++i)
    values.emplace(old.iters[i].var,
                   ir::cast(old.iters[i].var.type(), ir::substitute(layout.inverse[i], axes)));
  std::vector<ir::iter_var> iters = std::move(made.iters);
  made.iters.clear();
  made = *ir::substitute(ir::make_block(std::move(made)), values);
  made.iters = std::move(iters);
  const ir::block simple = detail::access_simplifier(known).mutate(ir::make_block(std::move(made)));

  std::vector<ir::expr> loops, lengths;
  for (const ir::iter_var& v : simple->iters) {
    loops.push_back(ir::make_var("ax" + std::to_string(loops.size()), v.var.type()));
    lengths.push_back(v.dom.extent);
  }
  return replace(f, head,
                 nest_around(loops, lengths, ir::make_realize(loops, ir::boolean(true), simple)));
}

}  // namespace tilewright::primitive
