#pragma once

#include <limits>
#include <string>

#include <tilewright/impl/dependence/loads.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/impl/schedule/rewrite/loop_rebinding.hpp>
#include <tilewright/schedule/primitive/loops/fuse.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive {
namespace detail::fusing {

inline constexpr refusal refuse{"fuse"};

/// The loops as nodes, after requirements 1 and 2.
inline loop_nest nest(const path& first, const ir::function& f, const std::vector<ir::var>& loops) {
  loop_nest out{ir::as_loop(first.target())};
  for (std::size_t i = 1; i < loops.size(); ++i) {
    const ir::loop_node* inner = ir::as_loop(out.back()->body);
    if (inner && inner->var.same(loops[i])) {
      out.push_back(inner);
      continue;
    }
    need_loop(f, loops[i], "fuse");
    for (std::size_t j = 0; j < i; ++j)
      if (loops[i].same(loops[j])) refuse(1, {"loop \"", loops[i]->name, "\" is named twice"});
    refuse(2, {"loop \"", loops[i]->name, "\" is not the whole body of loop \"", loops[i - 1]->name,
               "\""});
  }
  return out;
}

inline void check_independent(const loop_nest& nest) {
  for (const ir::loop_node* inner : nest)
    for (const ir::loop_node* outer : nest)
      if (ir::uses_var(inner->extent, outer->var))
        refuse(5, {"the extent of ", quoted(*inner), " depends on ", quoted(*outer)});
  for (std::size_t i = 1; i < nest.size(); ++i)
    if (const ir::buffer b = overwritten_bound(*nest[i], nest.back()->body))
      refuse(5, {"the nest overwrites \"", b->name, "\", from which the extent of ",
                 quoted(*nest[i]), " is loaded"});
}

inline dtype widest(const loop_nest& nest) {
  const bool wide =
      support::any(nest, [](const ir::loop_node* n) { return n->var.type() == dtype::i64; });
  return wide ? dtype::i64 : nest.front()->var.type();
}

/// Product of the extents in `type`, from the loop at `first` inwards.
inline ir::expr product(const loop_nest& nest, std::size_t first, dtype type) {
  ir::expr out = ir::integer(type, 1);
  for (std::size_t i = first; i < nest.size(); ++i) out = out * ir::cast(type, nest[i]->extent);
  return out;
}

inline void check_size(const loop_nest& nest, dtype type) {
  const std::int64_t limit = type == dtype::i64 ? std::numeric_limits<std::int64_t>::max()
                                                : std::numeric_limits<std::int32_t>::max();
  std::int64_t size = 1;
  for (const ir::loop_node* n : nest) {
    if (!ir::is_int(n->extent) || n->extent->integer <= 0) continue;
    if (n->extent->integer > limit / size)
      refuse(6, "the product of the extents does not fit the index type");
    size *= n->extent->integer;
  }
}

/// The digit of the fused loop that the loop at that position is, as the analyzer writes it; null where it has to be asked:
/// where an extent is none that is known, and where no loop runs more than once.
inline ir::expr digit(const loop_nest& nest, std::size_t at, const ir::var& fused) {
  std::int64_t outside = 1, inside = 1;
  for (std::size_t i = 0; i < nest.size(); ++i) {
    if (nest[i]->var.type() != fused.type() || !ir::is_int(nest[i]->extent) ||
        nest[i]->extent->integer <= 0)
      return {};
    if (i != at) (i < at ? outside : inside) *= nest[i]->extent->integer;
  }
  const std::int64_t own = nest[at]->extent->integer;
  if (outside * own * inside == 1) return {};
  const auto number = [&](std::int64_t n) { return ir::integer(fused.type(), n); };
  if (own == 1) return number(0);
  const ir::expr upwards = inside == 1 ? fused : ir::floordiv(fused, number(inside));
  return outside == 1 ? upwards : ir::floormod(upwards, number(own));
}

}  // namespace detail::fusing

TILEWRIGHT_INLINE new_loop fuse(const ir::function& f, const std::vector<ir::var>& loops,
                                bool preserve_unit_iters) {
  if (loops.empty()) detail::fusing::refuse(1, "at least one loop is needed");
  const path at = need_loop(f, loops.front(), "fuse");
  const auto nest = detail::fusing::nest(at, f, loops);
  for (const ir::loop_node* n : nest) check_plain_loop(*n, "fuse", 4, 3);
  detail::fusing::check_independent(nest);

  const dtype type = detail::fusing::widest(nest);
  detail::fusing::check_size(nest, type);
  std::string name;
  for (const ir::loop_node* n : nest) name += n->var->name + "_";
  const ir::var fused = ir::make_var(name + "fused", type);
  const ir::expr extent = detail::fusing::product(nest, 0, type), zero = ir::integer(type, 0);

  known_loops known(at, preserve_unit_iters);
  known.add(fused, zero, extent);
  ir::var_map values;
  for (std::size_t i = 0; i < nest.size(); ++i) {
    ir::expr& value = values[nest[i]->var];
    value = detail::fusing::digit(nest, i, fused);
    if (value) continue;
    const ir::expr inner = detail::fusing::product(nest, i + 1, type);
    const ir::expr rest =
        i == 0 ? fused : ir::floormod(fused, detail::fusing::product(nest, i, type));
    const bool dropped = !preserve_unit_iters && ir::is_int(nest[i]->extent, 1);
    value =
        dropped
            ? ir::integer(nest[i]->var.type(), 0)
            : known.analyzer().simplify(ir::cast(nest[i]->var.type(), ir::floordiv(rest, inner)));
  }
  ir::stmt body = rebind(nest.back()->body, values, {}, known);
  return {replace(f, at, ir::make_loop(fused, zero, extent, std::move(body))), fused};
}

}  // namespace tilewright::primitive
