#pragma once

#include <algorithm>
#include <array>
#include <limits>

#include <tilewright/impl/ir/intrinsics.hpp>
#include <tilewright/impl/ir/parser.hpp>

namespace tilewright::ir::detail {

/// Operators in the form of a call: `T.min(a, b)`.
struct called_operator {
  std::string_view name;
  op code;
};
inline constexpr std::array<called_operator, 23> called_operators{{{"min", op::min},
                                                                   {"max", op::max},
                                                                   {"Min", op::min},
                                                                   {"Max", op::max},
                                                                   {"Div", op::div},
                                                                   {"truncdiv", op::div},
                                                                   {"Mod", op::mod},
                                                                   {"truncmod", op::mod},
                                                                   {"floordiv", op::floordiv},
                                                                   {"FloorDiv", op::floordiv},
                                                                   {"floormod", op::floormod},
                                                                   {"FloorMod", op::floormod},
                                                                   {"Add", op::add},
                                                                   {"Sub", op::sub},
                                                                   {"Mul", op::mul},
                                                                   {"EQ", op::eq},
                                                                   {"NE", op::ne},
                                                                   {"LT", op::lt},
                                                                   {"LE", op::le},
                                                                   {"GT", op::gt},
                                                                   {"GE", op::ge},
                                                                   {"And", op::logical_and},
                                                                   {"Or", op::logical_or}}};

TILEWRIGHT_INLINE operand parser::intrinsic() {
  const level guard(*this);
  in_.next();  // T, or another name of the module
  in_.expect(".");
  const token name = in_.expect_name("a function of T");
  if (const auto type = dtype_from_name(name.text)) return typed(name, *type);
  if (is_script_intrinsic(name.text)) return known_call(name);
  for (const called_operator& entry : called_operators)
    if (entry.name == name.text) return called_binary(name, entry.code);
  if (name.text == "Cast" || name.text == "cast") return conversion(name);
  if (name.text == "if_then_else") return choice(name, op::if_then_else);
  if (name.text == "Select" || name.text == "select") return choice(name, op::select);
  if (name.text == "call_extern" || name.text == "call_pure_extern") return external_call(name);
  if (name.text == "min_value" || name.text == "max_value" || name.text == "infinity")
    return limit_value(name);
  if (name.text == "Not") {
    in_.expect("(");
    const operand value = expression();
    if (value.value.type() != dtype::boolean) in_.fail(name, "a boolean");
    in_.expect(")");
    return deeper(name, logical_not(value.value), value.depth);
  }
  if (name.text == "ceildiv") {
    in_.expect("(");
    operand a = expression();
    in_.expect(",");
    operand b = expression();
    in_.expect(")");
    if (!is_integer(a.value.type()) || !is_integer(b.value.type())) in_.fail(name, "two integers");
    const int depth = std::max(a.depth, b.depth) + 3;
    unify(name, a, b);
    return deeper(name, ceildiv(a.value, b.value), depth);
  }
  in_.fail(name, "a function of T that is known; others are called by T.call_extern");
}

/// T.float32(1.0), T.float32("inf"), T.bool(True), T.int64(-3); of another value it is a cast.
TILEWRIGHT_INLINE operand parser::typed(const token& name, dtype type) {
  in_.expect("(");
  if (in_.at(token_kind::string)) {
    const token t = in_.next();
    const std::string spelling = decode_string(t);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const double value = spelling == "inf"    ? infinity
                         : spelling == "-inf" ? -infinity
                                              : std::numeric_limits<double>::quiet_NaN();
    if (!is_float(type) || (spelling != "nan" && value != value))
      in_.fail(t, is_float(type) ? "\"inf\", \"-inf\" or \"nan\"" : "a number");
    in_.expect(")");
    return {real(type, value)};
  }
  const bool negative = in_.at("-");
  const token literal = in_.peek(negative ? 1 : 0);
  const bool alone = in_.peek(negative ? 2 : 1).text == ")";
  if (alone && literal.kind == token_kind::real && is_float(type)) {
    // Read in its own width, a decimal is rounded once.
    const double value =
        type == dtype::f64 ? decode_real(literal) : static_cast<double>(decode_float(literal));
    for (int i = negative ? 3 : 2; i > 0; --i) in_.next();
    return {real(type, negative ? -value : value)};
  }
  if (alone && !negative && literal.kind == token_kind::integer && type == dtype::u64) {
    const std::uint64_t value = decode_integer(literal);
    in_.next();
    in_.expect(")");
    return {integer(type, static_cast<std::int64_t>(value))};
  }
  operand value = expression();
  in_.expect(")");
  if (value.bare) return {retype(name, value, type)};
  return deeper(name, cast(type, value.value), value.depth);
}

TILEWRIGHT_INLINE operand parser::called_binary(const token& name, op o) {
  in_.expect("(");
  operand a = expression();
  in_.expect(",");
  operand b = expression();
  in_.expect(")");
  return combine(name, o, std::move(a), std::move(b));
}

/// T.Cast("float32", x), T.cast(x, "float32")
TILEWRIGHT_INLINE operand parser::conversion(const token& name) {
  in_.expect("(");
  dtype type = dtype::i32;
  operand value;
  if (in_.at(token_kind::string)) {
    type = type_name();
    in_.expect(",");
    value = expression();
  } else {
    value = expression();
    in_.expect(",");
    type = type_name();
  }
  in_.expect(")");
  return deeper(name, cast(type, settle(value)), value.depth);
}

TILEWRIGHT_INLINE operand parser::choice(const token& name, op o) {
  in_.expect("(");
  const operand test = expression();
  in_.expect(",");
  operand yes = expression();
  in_.expect(",");
  operand no = expression();
  in_.expect(")");
  return choose(name, o, test, std::move(yes), std::move(no));
}

/// T.call_extern("float32", "function", x, y)
TILEWRIGHT_INLINE operand parser::external_call(const token& name) {
  in_.expect("(");
  const dtype type = type_name();
  in_.expect(",");
  std::string function = decode_string(in_.expect_string("the name of a function"));
  std::vector<expr> args;
  int depth = 1;
  while (in_.accept(",")) {
    if (in_.at(")")) break;
    const operand arg = expression();
    depth = std::max(depth, arg.depth);
    args.push_back(settle(arg));
  }
  in_.expect(")");
  return deeper(name, call(type, std::move(function), std::move(args)), depth);
}

TILEWRIGHT_INLINE operand parser::known_call(const token& name) {
  in_.expect("(");
  std::vector<expr> args;
  int depth = 1;
  while (!in_.at(")")) {
    const token at = in_.peek();
    const operand arg = expression();
    depth = std::max(depth, arg.depth);
    const bool follows =
        !args.empty() && arg.bare && !(is_integer(args[0].type()) && arg.value->op == op::real);
    args.push_back(follows ? retype(at, arg, args[0].type()) : settle(arg));
    if (!in_.accept(",") && !in_.at(")")) in_.fail("',' or ')'");
  }
  const std::size_t arity = intrinsic_arity(name.text);
  if (args.size() != arity)
    throw parse_error(name.at, std::to_string(arity) + " arguments of T." + std::string(name.text),
                      std::to_string(args.size()));
  in_.expect(")");
  const dtype type = intrinsic_type(name.text, args[0].type());
  return deeper(name, call(type, std::string(name.text), std::move(args)), depth);
}

/// T.min_value("float32"), T.max_value(...): finite; T.infinity("float32")
TILEWRIGHT_INLINE operand parser::limit_value(const token& name) {
  in_.expect("(");
  const dtype type = type_name();
  in_.expect(")");
  if (name.text == "infinity") {
    if (!is_float(type)) in_.fail(name, "a float type");
    return {highest_value(type)};
  }
  const bool lowest = name.text == "min_value";
  if (!is_float(type)) return {lowest ? lowest_value(type) : highest_value(type)};
  const double largest = type == dtype::f64   ? std::numeric_limits<double>::max()
                         : type == dtype::f16 ? 65504.0
                         : type == dtype::f32
                             ? static_cast<double>(std::numeric_limits<float>::max())
                             : 0x1.fep127;
  return {real(type, lowest ? -largest : largest)};
}

}  // namespace tilewright::ir::detail
