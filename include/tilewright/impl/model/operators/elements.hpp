// What operators on single elements share.
#pragma once

#include <string>
#include <vector>

#include <tilewright/model/element_number.hpp>
#include <tilewright/model/operators.hpp>

namespace tilewright::network::detail {

using dsl::runtime_expression;

/// Emits f(x) for each element x of input 0.
template <class F>
void emit_each(emission& e, F f) {
  const reader x = e.in(0, "X");
  e.out(0, [x, f](const dsl::index_list& at) { return f(x.at(at)); });
}

/// `F` is a function of an expression and the node.
template <auto F>
void emit_activation(emission& e) {
  emit_each(e,
            [n = e.what()](const runtime_expression& x) -> runtime_expression { return F(x, n); });
}

inline void need_float(const inference& n) {
  if (!is_float(n.in(0).type))
    n.fail("it needs floating elements, and its input holds " + std::string(name(n.in(0).type)));
}

inline void infer_float(inference& n) {
  need_float(n);
  infer_same(n);
}

/// Emits f(...f(f(x0, x1), x2)...) of elements that are broadcast.
template <auto F>
void emit_fold(emission& e) {
  std::vector<reader> x;
  for (std::size_t k = 0; k < e.input_count(); ++k) x.push_back(e.broadcast(k, k == 0 ? "A" : "B"));
  e.out(0, [x, n = e.what()](const dsl::index_list& at) {
    runtime_expression out = x.at(0).at(at);
    for (std::size_t k = 1; k < x.size(); ++k) out = F(out, x[k].at(at), n);
    return out;
  });
}

/// An index that counts from the end where it is negative. The remainder is never negative, so that
/// whatever an index is, the read stays in bounds.
inline runtime_expression from_front(const runtime_expression& i, std::int64_t extent) {
  const dsl::node& n = i.nodes().back();
  if (i.nodes().size() == 1 && n.kind == dsl::node_kind::operation && n.op == ir::op::integer)
    return n.integer < 0 ? runtime_expression(n.integer + extent) : i;
  return i % dsl::runtime_literal(i.type(), static_cast<double>(extent));
}

/// The element type that an attribute names.
inline dtype type_of_attribute(const node& n, const char* attribute_name) {
  const std::int64_t number = n.integer(attribute_name, 0);
  const std::optional<dtype> t = type_of_number(number);
  if (!t) fail(n, "element type " + std::to_string(number) + " is not supported");
  return *t;
}

}  // namespace tilewright::network::detail
