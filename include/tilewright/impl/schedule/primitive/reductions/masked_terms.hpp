// Elements of which a maximum is taken where a condition holds, as a causal attention's scores: the condition apart from
// the element, and what it says of a tile as a whole.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/schedule/primitive/reductions/tuple_value.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive::detail::cascading {

/// less < more, or less <= more.
struct order {
  ir::expr less, more;
  bool strict = false;
};

/// Nothing where the condition compares no two indices.
inline std::optional<order> order_of(const ir::expr& condition) {
  if (condition->args.size() != 2 || !is_index(condition->args[0].type())) return std::nullopt;
  const ir::expr &a = condition->args[0], &b = condition->args[1];
  switch (condition->op) {
    case ir::op::lt: return order{a, b, true};
    case ir::op::le: return order{a, b, false};
    case ir::op::gt: return order{b, a, true};
    case ir::op::ge: return order{b, a, false};
    default: return std::nullopt;
  }
}

/// A number that is the maximum of nothing else: the least one, or minus infinity.
inline bool is_least(const ir::expr& e) {
  return e->op == ir::op::real && e->real <= -joining::largest_finite(e.type());
}

/// A condition that shows an element, and the least number that stands in its place elsewhere.
struct mask {
  ir::expr condition, least;
};

/// An element without the masks around it, which are in order from the outermost.
struct masked_terms {
  ir::expr element;
  std::vector<mask> masks;
};

inline masked_terms without_masks(ir::expr e) {
  masked_terms out;
  while ((e->op == ir::op::select || e->op == ir::op::if_then_else) && is_least(e->args[2]) &&
         order_of(e->args[0])) {
    out.masks.push_back({e->args[0], e->args[2]});
    e = ir::expr(e->args[1]);
  }
  out.element = std::move(e);
  return out;
}

/// Variables that run over a tile, from 0, and over how many places.
using tile_ranges = std::vector<std::pair<ir::var, std::int64_t>>;

/// The greatest (or least) value of a sum over a tile; nothing where it is no sum of the variables.
inline std::optional<ir::expr> over_tile(const ir::expr& e, const tile_ranges& tile,
                                         bool greatest) {
  const arith::linear all = arith::to_linear(e);
  arith::linear out;
  out.type = all.type;
  out.constant = all.constant;
  for (const auto& [term, factor] : all.terms) {
    bool stays = true;
    for (const auto& [v, extent] : tile) {
      if (!ir::uses_var(term, v)) continue;
      if (!term.same(v)) return std::nullopt;
      stays = false;
      if ((factor > 0) == greatest) out.constant += factor * (extent - 1);
    }
    if (stays) out.terms.push_back({term, factor});
  }
  return arith::from_linear(out);
}

inline ir::expr holds(const ir::expr& less, const ir::expr& more, bool strict) {
  return arith::simplify(strict ? ir::lt(less, more) : ir::le(less, more));
}

/// Whether the condition holds for all elements of a tile; nothing where that cannot be said in terms of the tile.
inline std::optional<ir::expr> all_shown(const ir::expr& condition, const tile_ranges& tile) {
  const order o = *order_of(condition);
  const auto less = over_tile(o.less, tile, true), more = over_tile(o.more, tile, false);
  if (!less || !more) return std::nullopt;
  return holds(*less, *more, o.strict);
}
/// Whether it holds for some of them; nothing where no bound says so.
inline std::optional<ir::expr> some_shown(const ir::expr& condition, const tile_ranges& tile) {
  const order o = *order_of(condition);
  const auto less = over_tile(o.less, tile, false), more = over_tile(o.more, tile, true);
  if (!less || !more) return std::nullopt;
  return holds(*less, *more, o.strict);
}

/// c x for a positive c, the least numbers as they are; `fixed` says what stays along the tile, so that it is multiplied
/// once.
template <class Fixed>
ir::expr scaled_terms(const ir::expr& e, double c, const Fixed& fixed) {
  if (e->op == ir::op::real) {
    const double most = joining::largest_finite(e.type());
    return std::isinf(e->real) ? e : ir::real(e.type(), std::clamp(e->real * c, -most, most));
  }
  if (e->op == ir::op::select || e->op == ir::op::if_then_else)
    return ir::with_args(
        e, {e->args[0], scaled_terms(e->args[1], c, fixed), scaled_terms(e->args[2], c, fixed)});
  if (e->op == ir::op::mul)
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}})
      if (fixed(e->args[side])) {
        const ir::expr& x = e->args[side];
        const ir::expr once =
            x->op == ir::op::real ? scaled_terms(x, c, fixed) : x * ir::real(e.type(), c);
        return side == 0 ? once * e->args[1] : e->args[0] * once;
      }
  return e * ir::real(e.type(), c);
}

}  // namespace tilewright::primitive::detail::cascading
