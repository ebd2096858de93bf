#pragma once

#include <tilewright/impl/model/operators/elements.hpp>
#include <tilewright/model/operators.hpp>

// Comparisons, logic, and choice by a condition.
namespace tilewright::network {
namespace detail {

inline void infer_comparison(inference& n) {
  infer_broadcast(n);
  n.out(0, {dtype::boolean, n.whole().type_of(n.what().outputs.at(0)).extents});
}

inline void infer_logic(inference& n) {
  for (std::size_t k = 0; k < n.input_count(); ++k)
    if (n.in(k).type != dtype::boolean) n.fail("its inputs have to be bool");
  infer_broadcast(n);
}

inline void infer_where(inference& n) {
  if (n.in(0).type != dtype::boolean) n.fail("its condition has to be bool");
  if (n.in(1).type != n.in(2).type) n.fail("both choices need one element type");
  n.out(0, {n.in(1).type,
            broadcast(n, n.in(0).extents, broadcast(n, n.in(1).extents, n.in(2).extents))});
}

inline void emit_where(emission& e) {
  const reader c = e.broadcast(0, "condition"), a = e.broadcast(1, "A"), b = e.broadcast(2, "B");
  e.out(0, [=](const dsl::index_list& at) { return select(c.at(at), a.at(at), b.at(at)); });
}

/// Input 0, and where it is no number, input 1.
inline void emit_replace_nan(emission& e) {
  const reader x = e.broadcast(0, "X"), otherwise = e.broadcast(1, "otherwise");
  e.out(0, [=](const dsl::index_list& at) -> runtime_expression {
    const runtime_expression own = x.at(at);
    return select(own != own, otherwise.at(at), own);
  });
}

}  // namespace detail

TILEWRIGHT_INLINE void add_comparisons(std::vector<operator_definition>& to) {
  using detail::runtime_expression, detail::emit_fold;
  using x = const runtime_expression&;
  const auto add = [&](std::string_view name, void (*infer)(inference&), void (*emit)(emission&)) {
    to.push_back({name, op_kind::elementwise, infer, emit});
  };
  const auto compare = detail::infer_comparison;
  add("Equal", compare, emit_fold<[](x a, x b, const node&) { return a == b; }>);
  add("Less", compare, emit_fold<[](x a, x b, const node&) { return a < b; }>);
  add("LessOrEqual", compare, emit_fold<[](x a, x b, const node&) { return a <= b; }>);
  add("Greater", compare, emit_fold<[](x a, x b, const node&) { return b < a; }>);
  add("GreaterOrEqual", compare, emit_fold<[](x a, x b, const node&) { return a >= b; }>);
  const auto logic = detail::infer_logic;
  add("And", logic, emit_fold<[](x a, x b, const node&) { return a & b; }>);
  add("Or", logic, emit_fold<[](x a, x b, const node&) { return a | b; }>);
  add("Xor", logic, emit_fold<[](x a, x b, const node&) { return (a & (!b)) | ((!a) & b); }>);
  add("Not", logic, detail::emit_activation<[](x a, const node&) { return !a; }>);
  add("Where", detail::infer_where, detail::emit_where);
  to.push_back({"ReplaceNaN", op_kind::elementwise, infer_broadcast, detail::emit_replace_nan,
                "tilewright"});
}

}  // namespace tilewright::network
