#pragma once

#include <algorithm>

#include <tilewright/impl/ir/intrinsics.hpp>
#include <tilewright/impl/ir/text/opaque.hpp>
#include <tilewright/impl/ir/text/parser.hpp>

namespace tilewright::ir::detail {

/// `(a, b, key=c)`
TILEWRIGHT_INLINE call_args parser::arguments() {
  const level guard(*this);
  call_args out;
  in_.expect("(");
  while (!in_.at(")")) {
    const bool named = in_.at(token_kind::name) && in_.peek(1).text == "=";
    const token key = in_.peek();
    if (named) in_.next(), in_.next();
    const bool star = in_.accept("*");
    operand value;
    const token at = in_.peek();
    if (in_.accept("None")) {
      value.tuple = true;
    } else if (named && key.text == "dtype") {
      const bool spelled = in_.at(token_kind::string);
      value = spelled ? any() : operand{text(type_text(type_argument()))};
    } else {
      value = any();
    }
    if (star && !value.tuple) in_.fail(at, "a tuple after *");
    if (named)
      out.named.push_back({key, std::move(value)});
    else if (star)
      for (operand& item : value.items) out.list.push_back(std::move(item));
    else
      out.list.push_back(std::move(value));
    if (!in_.accept(",") && !in_.at(")")) in_.fail("',' or ')'");
  }
  in_.expect(")");
  return out;
}

/// A tuple becomes a call of tir.tvm_tuple, which is what TVM makes of one.
TILEWRIGHT_INLINE expr parser::argument(const operand& o) const {
  if (!o.tuple) return settle(o);
  std::vector<expr> items;
  for (const operand& item : o.items) items.push_back(argument(item));
  return call(dtype::handle, "tir.tvm_tuple", std::move(items));
}

/// The call `name(args)`. Its type stands in `dtype=`, or in front where `typed_first` or where the
/// first argument names a type.
TILEWRIGHT_INLINE operand parser::opaque(const token& at, std::string name, const call_args& args,
                                         bool typed_first) {
  std::vector<expr> list;
  int depth = 1;
  for (const operand& o : args.list) {
    depth = std::max(depth, o.depth + (o.tuple ? 2 : 0));
    list.push_back(argument(o));
  }
  const operand* given = args.find("dtype");
  std::optional<dtype> type;
  const expr spelled = given ? given->value : list.empty() ? expr() : list[0];
  if (spelled && spelled->op == op::text) {
    type = type_from_text(spelled->name);
    if (given && !type) in_.fail(at, "the name of an element type");
    if (type && !given && !list.empty()) list.erase(list.begin());
  }
  if (!type && typed_first) in_.fail(at, "the name of an element type as the first argument");
  const bool prefixed = name.substr(0, opaque_prefix.size()) == opaque_prefix;
  const std::string_view bare =
      prefixed ? std::string_view(name).substr(opaque_prefix.size()) : std::string_view();
  const dtype result = type ? *type : implied_type(bare, list);
  return deeper(at, call(result, std::move(name), std::move(list)), depth);
}

/// T.call_extern("float32", "function", x, y); older scripts: T.call_extern("function", x,
/// dtype="float32")
TILEWRIGHT_INLINE operand parser::external_call(const token& name) {
  call_args args = arguments();
  const bool typed_last = args.find("dtype") != nullptr;
  const std::size_t at = typed_last ? 0 : 1;
  if (args.list.size() <= at || !args.list[at].value || args.list[at].value->op != op::text)
    in_.fail(name, typed_last ? "the name of a function" : "a type and the name of a function");
  std::string function = args.list[at].value->name;
  args.list.erase(args.list.begin() + static_cast<std::ptrdiff_t>(at));
  if (function.empty()) in_.fail(name, "the name of a function");
  return opaque(name, std::move(function), args, !typed_last);
}

/// T.call_intrin("float32", "tir.exp", x)
TILEWRIGHT_INLINE operand parser::intrinsic_by_name(const token& name) {
  call_args args = arguments();
  if (args.list.size() < 2 || !args.list[1].value || args.list[1].value->op != op::text)
    in_.fail(name, "a type and the name of an intrinsic");
  std::string_view spelled = args.list[1].value->name;
  for (std::string_view prefix : {"tir.", "tirx.", "s_tir."})
    if (spelled.substr(0, prefix.size()) == prefix) spelled.remove_prefix(prefix.size());
  const std::string bare(spelled);
  args.list.erase(args.list.begin() + 1);
  const bool known = is_script_intrinsic(bare) && args.list.size() == intrinsic_arity(bare) + 1;
  operand out = opaque(name, known ? bare : std::string(opaque_prefix) + bare, args, true);
  return out;
}

/// T.reinterpret("float32", x), T.reinterpret(x, dtype="float32"): the bits of x as another type
TILEWRIGHT_INLINE operand parser::reinterpretation(const token& name) {
  const call_args args = arguments();
  const operand* named = args.find("dtype");
  const std::size_t value = named ? 0 : 1;
  if (args.list.size() != value + 1) in_.fail(name, "a type and a value");
  const operand& spelled = named ? *named : args.list[0];
  need_value(name, spelled);
  const auto type =
      spelled.value->op == op::text ? type_from_text(spelled.value->name) : std::nullopt;
  if (!type) in_.fail(name, "the name of an element type");
  const operand& of = args.list[value];
  const expr settled = argument(of);
  if (settled.type() == *type) return of;
  return deeper(name, call(*type, "reinterpret", {settled}), of.depth);
}

/// `n`, or `n * T.vscale()` where the machine knows how many: the type of so many lanes.
TILEWRIGHT_INLINE dtype parser::lanes_type(const token& at, const expr& count, dtype scalar) const {
  const auto is_scale = [](const expr& e) { return e->op == op::call && e->name == "tir.vscale"; };
  expr factor = count;
  bool scalable = is_scale(count);
  if (scalable) factor = integer(dtype::i32, 1);
  if (count->op == op::mul)
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
      if (is_scale(count->args[i])) factor = count->args[1 - i], scalable = true;
  if (!is_int(factor) || factor->integer < 1 || factor->integer > most_lanes)
    in_.fail(at, "a literal number of lanes from 1 to 65536, or its product with T.vscale()");
  if (is_vector(scalar) || scalar == dtype::handle)
    throw parse_error(at.at, "a scalar for every lane", type_text(scalar));
  return vector_type(scalar, static_cast<int>(factor->integer), scalable);
}

/// T.Ramp(base, stride, lanes), T.Broadcast(value, lanes)
TILEWRIGHT_INLINE operand parser::vector_value(const token& name) {
  const call_args args = arguments();
  const bool ramp = name.text == "Ramp" || name.text == "ramp";
  if (args.list.size() != (ramp ? 3u : 2u))
    in_.fail(name, ramp ? "a base, a stride and lanes" : "a value and lanes");
  std::vector<expr> list;
  int depth = 1;
  for (const operand& o : args.list) {
    list.push_back(argument(o));
    depth = std::max(depth, o.depth);
  }
  if (ramp) {
    if (!is_integer(list[0].type())) in_.fail(name, "an integer base");
    list[1] = converted(name, {list[1], is_int(list[1])}, list[0].type());
  }
  const dtype type = lanes_type(name, list.back(), list[0].type());
  if (!is_vector(type)) return {list[0], args.list[0].bare, depth};
  return deeper(name, call(type, ramp ? "tir.Ramp" : "tir.Broadcast", std::move(list)), depth);
}

TILEWRIGHT_INLINE operand parser::opaque_call(const token& name) {
  if (name.text == "Ramp" || name.text == "ramp" || name.text == "Broadcast" ||
      name.text == "broadcast")
    return vector_value(name);
  std::string full(name.text);
  // T.ptx.mma(...), T.cuda.thread_rank()
  while (in_.at(".")) {
    in_.next();
    full += '.';
    full += in_.expect_name("a function of T").text;
  }
  if (!is_opaque_name(full) || !in_.at("("))
    in_.fail(name, "a function of T that is known; others are called by T.call_extern");
  const call_args args = arguments();
  return opaque(name, std::string(opaque_prefix) + full, args, false);
}

}  // namespace tilewright::ir::detail
