#pragma once

#include <algorithm>
#include <cmath>

#include <tilewright/impl/model/operators/elements.hpp>
#include <tilewright/impl/model/operators/filled.hpp>
#include <tilewright/model/operators.hpp>

// Operators whose outputs follow from shapes and attributes: nothing of them runs.
namespace tilewright::network {
namespace detail {

inline void infer_constant(inference& n) {
  const auto& all = n.what().attributes;
  const auto list = [&](const auto& numbers, dtype t) {
    auto [out, data] = constant::make({t, {static_cast<std::int64_t>(numbers.size())}});
    for (std::size_t k = 0; k < numbers.size(); ++k)
      store_number(data, t, static_cast<std::int64_t>(k), static_cast<double>(numbers[k]),
                   static_cast<std::int64_t>(numbers[k]));
    n.out(0, out);
  };
  const std::string kind = all.size() == 1 ? all.begin()->first : std::string();
  if (kind == "value" && std::holds_alternative<constant>(all.begin()->second))
    return n.out(0, std::get<constant>(all.begin()->second));
  if (kind == "value_float") {
    const double x = n.what().real(kind, 0);
    return n.out(0, filled({dtype::f32, {}}, x, 0));
  }
  if (kind == "value_int") return n.out(0, filled({dtype::i64, {}}, 0, n.what().integer(kind, 0)));
  if (kind == "value_ints") return list(n.what().integers(kind), dtype::i64);
  if (kind == "value_floats") return list(n.what().reals(kind), dtype::f32);
  n.fail("it needs one attribute: value, value_int, value_ints, value_float or value_floats");
}

inline void infer_constant_of_shape(inference& n) {
  tensor_type t{dtype::f32, n.numbers(0)};
  double number = 0;
  std::int64_t integer = 0;
  if (const auto at = n.what().attributes.find("value"); at != n.what().attributes.end()) {
    const auto* c = std::get_if<constant>(&at->second);
    if (!c || c->type().elements() != 1)
      n.fail("attribute value has to be a tensor of one element");
    t.type = c->type().type;
    if (is_float(t.type))
      number = c->number(0);
    else
      integer = c->integer(0);
  }
  n.out(0, t);  // which checks the extents
  n.out(0, filled(t, number, integer));
}

inline void infer_shape(inference& n) {
  const shape& all = n.in(0).extents;
  const auto rank = static_cast<std::int64_t>(all.size());
  const auto place = [&](std::int64_t p) {
    return std::clamp(p < 0 ? p + rank : p, std::int64_t{0}, rank);
  };
  const std::int64_t first = place(n.what().integer("start", 0));
  const std::int64_t last = place(n.what().integer("end", rank));
  n.out(0, constant::of_integers(first < last ? shape(all.begin() + first, all.begin() + last)
                                              : shape()));
}

inline void infer_size(inference& n) {
  n.out(0, constant::of_integers({n.in(0).elements()}).reshaped({}));
}

inline void infer_range(inference& n) {
  const constant *start = n.known(0), *limit = n.known(1), *delta = n.known(2);
  if (!start || !limit || !delta)
    n.fail(
        "its inputs depend on the arguments of a call; the length of its output has to be known "
        "when the model is loaded");
  for (const constant* c : {start, limit, delta})
    if (c->type().elements() != 1) n.fail("its inputs have to have one element");
  const dtype t = start->type().type;
  const double from = start->number(0), to = limit->number(0), step = delta->number(0);
  if (step == 0) n.fail("its step is 0");
  const double count = std::max(0.0, std::ceil((to - from) / step));
  if (!(count < 1e9)) n.fail("it has too many elements");
  const tensor_type type{t, {static_cast<std::int64_t>(count)}};
  auto [out, data] = constant::make(type);
  for (std::int64_t k = 0; k < type.elements(); ++k) {
    const std::int64_t integer = is_float(t) ? 0 : start->integer(0) + k * delta->integer(0);
    store_number(data, t, k, from + static_cast<double>(k) * step, integer);
  }
  n.out(0, out);
}

inline void infer_eye(inference& n) {
  const shape& s = n.in(0).extents;
  if (s.size() != 2) n.fail("its input has to be a matrix");
  const dtype t = n.what().has("dtype") ? type_of_attribute(n.what(), "dtype") : n.in(0).type;
  const std::int64_t k = n.what().integer("k", 0);
  auto [out, data] = constant::make({t, s});
  for (std::int64_t i = 0; i < s[0]; ++i)
    for (std::int64_t j = 0; j < s[1]; ++j)
      store_number(data, t, i * s[1] + j, j - i == k ? 1.0 : 0.0, j - i == k);
  n.out(0, out);
}

}  // namespace detail

TILEWRIGHT_INLINE void add_constants(std::vector<operator_definition>& to) {
  const auto add = [&](std::string_view name, void (*infer)(inference&)) {
    to.push_back({name, op_kind::opaque, infer, nullptr});
  };
  add("Constant", detail::infer_constant);
  add("ConstantOfShape", detail::infer_constant_of_shape);
  add("Shape", detail::infer_shape);
  add("Size", detail::infer_size);
  add("Range", detail::infer_range);
  add("EyeLike", detail::infer_eye);
}

}  // namespace tilewright::network
