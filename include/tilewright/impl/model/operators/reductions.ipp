#pragma once

#include <algorithm>
#include <limits>

#include <tilewright/impl/model/operators/dimensions.hpp>
#include <tilewright/impl/model/operators/elements.hpp>
#include <tilewright/impl/model/operators/filled.hpp>
#include <tilewright/model/operators.hpp>

// Reductions over any axes, and positions of the largest element.
namespace tilewright::network {
namespace detail {

/// The axes that a node reduces: all where none is given, unless it says otherwise.
inline std::vector<std::size_t> reduced_of(const node_view& n) {
  const std::vector<std::int64_t> list = n.list(1, "axes");
  const std::size_t rank = n.rank(0);
  if (list.empty() && n.what().integer("noop_with_empty_axes", 0) != 0) return {};
  if (!list.empty()) return n.dimensions(list, rank);
  std::vector<std::size_t> all(rank);
  for (std::size_t d = 0; d < rank; ++d) all[d] = d;
  return all;
}

enum class folding { sum, mean, max, min, prod, l1, l2, log_sum, log_sum_exp, sum_square };

/// What a reduction makes of no elements.
inline constant of_nothing(folding f, const tensor_type& t) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const bool whole = is_integer(t.type), is_bool = t.type == dtype::boolean;
  const int digits = bits(t.type) - (is_unsigned(t.type) ? 0 : 1);
  const auto most = static_cast<std::int64_t>(~std::uint64_t{0} >> (64 - digits));
  const std::int64_t least = is_unsigned(t.type) ? 0 : -most - 1;
  switch (f) {
    case folding::max: return filled(t, -infinity, whole ? least : 0);
    case folding::min: return filled(t, infinity, is_bool ? 1 : whole ? most : 0);
    case folding::prod: return filled(t, 1, 1);
    case folding::mean: return filled(t, std::numeric_limits<double>::quiet_NaN(), 0);
    case folding::log_sum:
    case folding::log_sum_exp: return filled(t, -infinity, 0);
    default: return filled(t, 0, 0);
  }
}

template <folding F>
void infer_reduction(inference& n) {
  const tensor_type out{n.in(0).type, reduced_shape(n.in(0).extents, reduced_of(n),
                                                    n.what().integer("keepdims", 1) != 0)};
  n.out(0, out);
  if (n.in(0).elements() == 0 && out.elements() > 0) n.out(0, of_nothing(F, out));
}

inline dsl::reduction reduction_of(folding f) {
  if (f == folding::max) return dsl::reduction::max;
  if (f == folding::min) return dsl::reduction::min;
  if (f == folding::prod) return dsl::reduction::prod;
  return dsl::reduction::sum;
}

template <folding F>
void emit_reduction(emission& e) {
  const std::vector<std::size_t> reduced = reduced_of(e);
  const dsl::runtime_tensor x = e.tensor(0, "X");
  const shape from = e.in(0, "X").type.extents;
  const dtype t = e.type_of_output().type;
  const bool keep = e.what().integer("keepdims", 1) != 0;
  dsl::index_list over;
  std::int64_t count = 1;
  for (const std::size_t d : reduced) {
    over.push_back(e.axis("r" + std::to_string(d), from[d]));
    count *= from[d];
  }
  const auto place = [=](const dsl::index_list& at, const dsl::index_list& axes_of_x) {
    dsl::index_list out;
    for (std::size_t d = 0, o = 0, r = 0; d < from.size(); ++d) {
      if (!is_in(reduced, d)) {
        out.push_back(at[o++]);
      } else {
        out.push_back(axes_of_x[r++]);
        o += keep;
      }
    }
    return out;
  };
  const auto fold = [over](dsl::reduction kind, const runtime_expression& value_of) {
    return over.empty() ? value_of : reduce(kind, over, value_of);
  };
  std::optional<dsl::runtime_tensor> peak;
  if (F == folding::log_sum_exp) {
    const shape s = reduced_shape(from, reduced, keep);
    peak = e.temp("peak", t, s);
    const dsl::index_list at = e.axes("i", s);
    e.define((*peak)(at) = fold(dsl::reduction::max, x(place(at, over))));
  }
  e.out(0, [=](const dsl::index_list& at) -> runtime_expression {
    const cast_to_type wide{sum_type(t)};
    const runtime_expression v = wide(x(place(at, over)));
    if (t == dtype::boolean)
      return fold(F == folding::max ? dsl::reduction::any : dsl::reduction::all, v);
    switch (F) {
      case folding::mean: {
        const runtime_expression total = fold(dsl::reduction::sum, v);
        return cast(is_float(t) ? total / static_cast<double>(count) : total / count, t);
      }
      case folding::l1: return cast(fold(dsl::reduction::sum, abs(v)), t);
      case folding::l2: {
        const runtime_expression total = fold(dsl::reduction::sum, v * v);
        if (is_float(t)) return cast(sqrt(total), t);
        return cast(sqrt(cast(total, dtype::f64)), t);
      }
      case folding::log_sum: return cast(log(fold(dsl::reduction::sum, v)), t);
      case folding::log_sum_exp: {
        const runtime_expression p = wide((*peak)(at));
        return cast(p + log(fold(dsl::reduction::sum, exp(v - p))), t);
      }
      case folding::sum_square: return cast(fold(dsl::reduction::sum, v * v), t);
      default: return cast(fold(reduction_of(F), v), t);
    }
  });
}

inline void infer_position(inference& n) {
  const std::size_t a = n.dimension(n.what().integer("axis", 0), n.rank(0));
  n.out(0, {dtype::i64, reduced_shape(n.in(0).extents, {a}, n.what().integer("keepdims", 1) != 0)});
}

template <dsl::reduction Kind>
void emit_position(emission& e) {
  const dsl::runtime_tensor x = e.tensor(0, "X");
  const std::size_t a =
      e.dimension(e.what().integer("axis", 0), static_cast<std::size_t>(x.rank()));
  const bool keep = e.what().integer("keepdims", 1) != 0;
  const auto r = e.axis("r", x.extent(static_cast<int>(a)));
  const bool from_behind = e.what().integer("select_last_index", 0) != 0;
  const std::int64_t last = x.extent(static_cast<int>(a)) - 1;
  e.out(0, [=](const dsl::index_list& at) -> runtime_expression {
    // of equal elements the first one is found; the last one is the first from behind
    const runtime_expression i = from_behind ? last - r : r;
    dsl::index_list place = at;
    if (keep)
      place[a] = i;
    else
      place.insert(place.begin() + static_cast<std::ptrdiff_t>(a), i);
    const runtime_expression found = cast(reduce(Kind, {r}, x(place)), dtype::i64);
    return from_behind ? last - found : found;
  });
}

}  // namespace detail

TILEWRIGHT_INLINE void add_reductions(std::vector<operator_definition>& to) {
  using detail::folding;
  const auto add = [&](std::string_view name, void (*infer)(inference&), void (*emit)(emission&)) {
    to.push_back({name, op_kind::anchor, infer, emit});
  };
  add("ReduceSum", detail::infer_reduction<folding::sum>, detail::emit_reduction<folding::sum>);
  add("ReduceMean", detail::infer_reduction<folding::mean>, detail::emit_reduction<folding::mean>);
  add("ReduceMax", detail::infer_reduction<folding::max>, detail::emit_reduction<folding::max>);
  add("ReduceMin", detail::infer_reduction<folding::min>, detail::emit_reduction<folding::min>);
  add("ReduceProd", detail::infer_reduction<folding::prod>, detail::emit_reduction<folding::prod>);
  add("ReduceL1", detail::infer_reduction<folding::l1>, detail::emit_reduction<folding::l1>);
  add("ReduceL2", detail::infer_reduction<folding::l2>, detail::emit_reduction<folding::l2>);
  add("ReduceLogSum", detail::infer_reduction<folding::log_sum>,
      detail::emit_reduction<folding::log_sum>);
  add("ReduceLogSumExp", detail::infer_reduction<folding::log_sum_exp>,
      detail::emit_reduction<folding::log_sum_exp>);
  add("ReduceSumSquare", detail::infer_reduction<folding::sum_square>,
      detail::emit_reduction<folding::sum_square>);
  to.push_back({"ArgMax", op_kind::anchor, detail::infer_position,
                detail::emit_position<dsl::reduction::argmax>});
  to.push_back({"ArgMin", op_kind::anchor, detail::infer_position,
                detail::emit_position<dsl::reduction::argmin>});
}

}  // namespace tilewright::network
