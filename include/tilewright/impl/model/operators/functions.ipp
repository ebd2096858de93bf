#pragma once

#include <cmath>
#include <limits>
#include <optional>

#include <tilewright/impl/model/operators/elements.hpp>
#include <tilewright/model/operators.hpp>

// Functions of one element from mathematics, and conversions.
namespace tilewright::network {
namespace detail {

inline runtime_expression sign(const runtime_expression& x) {
  const dtype t = x.type();
  const runtime_expression zero = dsl::runtime_literal(t, 0), one = dsl::runtime_literal(t, 1);
  const runtime_expression positive = select(x > zero, one, zero);
  if (is_unsigned(t)) return positive;
  return select(x < zero, dsl::runtime_literal(t, -1), positive);
}

inline void infer_is_nan(inference& n) {
  need_float(n);
  n.out(0, {dtype::boolean, n.in(0).extents});
}

inline runtime_expression is_infinite(const runtime_expression& x, const node& n) {
  const double infinity = std::numeric_limits<double>::infinity();
  const runtime_expression no = runtime_expression(false).as(dtype::boolean, false);
  runtime_expression out = no;
  if (n.integer("detect_positive", 1)) out = x == infinity;
  if (n.integer("detect_negative", 1)) out = out | (x == -infinity);
  return out;
}

inline void infer_cast(inference& n) {
  n.out(0, {type_of_attribute(n.what(), "to"), n.in(0).extents});
}

inline void infer_cast_like(inference& n) { n.out(0, {n.in(1).type, n.in(0).extents}); }

inline void emit_cast(emission& e) {
  emit_each(e, [t = e.type_of_output().type](const runtime_expression& x) -> runtime_expression {
    if (t == dtype::boolean && x.type() != t) return x != 0;
    return cast(x, t);
  });
}

/// Limits come as attributes before version 11.
inline void emit_clip(emission& e) {
  const reader x = e.in(0, "X");
  const auto limit = [&](std::size_t k, const char* name) -> std::optional<element_function> {
    if (e.what().has_input(k)) return e.broadcast(k, name).at;
    if (!e.what().has(name)) return std::nullopt;
    const runtime_expression l = dsl::runtime_literal(x.type.type, e.what().real(name, 0));
    return [l](const dsl::index_list&) { return l; };
  };
  const auto low = limit(1, "min"), high = limit(2, "max");
  e.out(0, [=](const dsl::index_list& at) {
    runtime_expression out = x.at(at);
    if (low) out = max(out, (*low)(at));
    if (high) out = min(out, (*high)(at));
    return out;
  });
}

}  // namespace detail

TILEWRIGHT_INLINE void add_functions(std::vector<operator_definition>& to) {
  using detail::runtime_expression;
  const auto add = [&](std::string_view name, void (*infer)(inference&), void (*emit)(emission&)) {
    to.push_back({name, op_kind::elementwise, infer, emit});
  };
  add("Exp", detail::infer_float,
      detail::emit_activation<[](const runtime_expression& x, const node&) { return exp(x); }>);
  add("Log", detail::infer_float,
      detail::emit_activation<[](const runtime_expression& x, const node&) { return log(x); }>);
  add("Sqrt", detail::infer_float,
      detail::emit_activation<[](const runtime_expression& x, const node&) { return sqrt(x); }>);
  add("Erf", detail::infer_float,
      detail::emit_activation<[](const runtime_expression& x, const node&) { return erf(x); }>);
  add("Floor", detail::infer_float,
      detail::emit_activation<[](const runtime_expression& x, const node&) { return floor(x); }>);
  add("Ceil", detail::infer_float,
      detail::emit_activation<[](const runtime_expression& x, const node&) { return ceil(x); }>);
  add("Round", detail::infer_float,
      detail::emit_activation<[](const runtime_expression& x, const node&) { return round(x); }>);
  add("Reciprocal", detail::infer_float,
      detail::emit_activation<[](const runtime_expression& x, const node&) { return 1.0 / x; }>);
  add("Abs", infer_same,
      detail::emit_activation<[](const runtime_expression& x, const node&) { return abs(x); }>);
  add("Neg", infer_same,
      detail::emit_activation<[](const runtime_expression& x, const node&) { return -x; }>);
  add("Sign", infer_same, detail::emit_activation<[](const runtime_expression& x, const node&) {
        return detail::sign(x);
      }>);
  add("IsNaN", detail::infer_is_nan,
      detail::emit_activation<[](const runtime_expression& x, const node&) { return x != x; }>);
  add("IsInf", detail::infer_is_nan, detail::emit_activation<detail::is_infinite>);
  add("Cast", detail::infer_cast, detail::emit_cast);
  add("CastLike", detail::infer_cast_like, detail::emit_cast);
  add("Clip", infer_same, detail::emit_clip);
}

}  // namespace tilewright::network
