#pragma once

#include <algorithm>
#include <array>
#include <limits>

#include <tilewright/impl/ir/intrinsics.hpp>
#include <tilewright/impl/ir/text/opaque.hpp>
#include <tilewright/impl/ir/text/parser.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/numbers/narrow_float.hpp>

namespace tilewright::ir::detail {

/// Operators in the form of a call: `T.min(a, b)`.
struct called_operator {
  std::string_view name;
  op code;
};
inline constexpr std::array<called_operator, 25> called_operators{{{"min", op::min},
                                                                   {"max", op::max},
                                                                   {"Min", op::min},
                                                                   {"Max", op::max},
                                                                   {"Div", op::div},
                                                                   {"truncdiv", op::div},
                                                                   {"Mod", op::mod},
                                                                   {"truncmod", op::mod},
                                                                   {"floordiv", op::floordiv},
                                                                   {"FloorDiv", op::floordiv},
                                                                   {"indexdiv", op::floordiv},
                                                                   {"floormod", op::floormod},
                                                                   {"FloorMod", op::floormod},
                                                                   {"indexmod", op::floormod},
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

/// Other spellings of intrinsics.
struct intrinsic_alias {
  std::string_view name, canonical;
};
inline constexpr std::array<intrinsic_alias, 8> intrinsic_aliases{{{"power", "pow"},
                                                                   {"fabs", "abs"},
                                                                   {"BitwiseAnd", "bitwise_and"},
                                                                   {"BitwiseOr", "bitwise_or"},
                                                                   {"BitwiseXor", "bitwise_xor"},
                                                                   {"BitwiseNot", "bitwise_not"},
                                                                   {"LShift", "shift_left"},
                                                                   {"RShift", "shift_right"}}};

/// The spellings of T that scripts use, in the order of their age.
inline constexpr std::array<std::string_view, 6> known_namespaces{"T",    "tir", "Ts",
                                                                  "tirx", "S",   "s_tir"};

TILEWRIGHT_INLINE bool parser::at_namespace(std::size_t ahead) const {
  if (in_.peek(ahead).text == "tvm" && in_.peek(ahead + 1).text == ".") ahead += 2;
  const token& t = in_.peek(ahead);
  if (t.kind != token_kind::name || in_.peek(ahead + 1).text != ".") return false;
  const auto is = [&](std::string_view n) { return n == t.text; };
  const bool spelled = support::any(known_namespaces, is) || support::any(namespaces_, is);
  const entity* meant = spelled ? find(t.text) : nullptr;
  return spelled && (!meant || meant->is == entity::kind::alias);
}

/// Consumes `T.`; `T.tir.` and the like mean the same.
TILEWRIGHT_INLINE void parser::enter_namespace() {
  if (!at_namespace()) in_.fail("'T'");
  if (in_.at("tvm")) in_.next(), in_.next();
  in_.next();
  in_.expect(".");
  if ((in_.at("tir") || in_.at("tirx") || in_.at("s_tir")) && in_.peek(1).text == ".")
    in_.next(), in_.next();
}

TILEWRIGHT_INLINE std::optional<dtype> type_from_text(std::string_view text) {
  if (const auto type = dtype_from_name(text)) return type;
  struct spelling {
    std::string_view name;
    dtype type;
  };
  static constexpr std::array<spelling, 22> others{
      {{"handle", dtype::handle},
       {"void", dtype::handle},
       {"", dtype::handle},
       {"float", dtype::f32},
       {"f", dtype::f32},
       {"int", dtype::i32},
       {"uint", dtype::u32},
       {"boolean", dtype::boolean},
       {"f16", dtype::f16},
       {"bf16", dtype::bf16},
       {"f32", dtype::f32},
       {"f64", dtype::f64},
       {"i8", dtype::i8},
       {"i16", dtype::i16},
       {"i32", dtype::i32},
       {"i64", dtype::i64},
       {"u8", dtype::u8},
       {"u16", dtype::u16},
       {"u32", dtype::u32},
       {"u64", dtype::u64},
       {"e4m3_float8", *dtype_from_name("float8_e4m3fn")},
       {"e5m2_float8", *dtype_from_name("float8_e5m2")}}};
  for (const spelling& s : others)
    if (s.name == text) return s.type;
  return std::nullopt;
}

TILEWRIGHT_INLINE dtype parser::type_of(const token& t) const {
  const bool quoted = t.kind == token_kind::string;
  const std::string text = quoted ? decode_string(t) : std::string(t.text);
  const auto known = type_from_text(text);
  if (!known) in_.fail(t, "the name of an element type, such as \"float32\"");
  return *known;
}

TILEWRIGHT_INLINE dtype parser::type_name() {
  const token t = in_.expect_string("the name of an element type, such as \"float32\"");
  return type_of(t);
}

/// "float32", T.float32, A.dtype, x.dtype, or a name that stands for one of them
TILEWRIGHT_INLINE dtype parser::type_argument() {
  if (in_.at(token_kind::string)) return type_name();
  const token at = in_.peek();
  if (at_namespace()) {
    const std::size_t mark = in_.mark();
    enter_namespace();
    const token type = in_.next();
    const auto known = type_from_text(type.text);
    if (known && !in_.at("(") && type.kind == token_kind::name) return *known;
    in_.rewind(mark);
  }
  const operand o = expression();
  if (o.value->op != op::text) in_.fail(at, "the name of an element type, such as \"float32\"");
  const auto known = type_from_text(o.value->name);
  if (!known) in_.fail(at, "the name of an element type, such as \"float32\"");
  return *known;
}

TILEWRIGHT_INLINE operand parser::intrinsic() {
  const level guard(*this);
  enter_namespace();
  const token name = in_.expect_name("a function of T");
  const auto type = type_from_text(name.text);
  if (type && *type != dtype::handle) return typed(name, *type);
  if (is_script_intrinsic(name.text)) return known_call(name, name.text);
  for (const intrinsic_alias& alias : intrinsic_aliases)
    if (alias.name == name.text) return known_call(name, alias.canonical);
  for (const called_operator& entry : called_operators)
    if (entry.name == name.text) return called_binary(name, entry.code);
  if (name.text == "Cast" || name.text == "cast") return conversion(name);
  if (name.text == "if_then_else") return choice(name, op::if_then_else);
  if (name.text == "Select" || name.text == "select") return choice(name, op::select);
  if (name.text == "all" || name.text == "any") return all_or_any(name);
  if (name.text == "call_extern" || name.text == "call_pure_extern") return external_call(name);
  if (name.text == "call_intrin" || name.text == "Call") return intrinsic_by_name(name);
  if (name.text == "reinterpret") return reinterpretation(name);
  if (name.text == "handle") return pointer_type();
  if (name.text == "Let") return let_expression(name);
  if (name.text == "comm_reducer" && in_.peek(1).text == "lambda") return reducer(name);
  if (name.text == "min_value" || name.text == "max_value" || name.text == "infinity")
    return limit_value(name);
  if (name.text == "ceildiv") return ceiling_division(name);
  if (name.text == "Not") {
    in_.expect("(");
    const operand value = expression();
    if (value.value.type() != dtype::boolean) in_.fail(name, "a boolean");
    in_.expect(")");
    return deeper(name, logical_not(value.value), value.depth);
  }
  if (name.text == "meta_var" || name.text == "Bind" || name.text == "bind") {
    in_.expect("(");
    operand value = any();
    in_.expect(")");
    return value;
  }
  return opaque_call(name);
}

/// The rest of `float32("inf"`.
TILEWRIGHT_INLINE operand parser::special_float(dtype type) {
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

/// The rest of `T.handle("float32").ty`, the type of a pointer as an argument.
TILEWRIGHT_INLINE operand parser::pointer_type() {
  arguments();
  in_.expect(".");
  in_.expect("ty");
  return {text("handle")};
}

/// T.float32(1.0), T.float32("inf"), T.bool(True), T.int64(-3); of another value it is a cast.
TILEWRIGHT_INLINE operand parser::typed(const token& name, dtype type) {
  in_.expect("(");
  if (in_.at(token_kind::string)) return special_float(type);
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
  if (value.bare && is_int(value.value) && is_integer(type) &&
      wrap_to(type, value.value->integer) != value.value->integer)
    in_.fail(literal, "a literal of type " + type_text(type));
  if (value.bare) return {retype(name, value, type)};
  return deeper(name, converted(name, value, type), value.depth);
}

TILEWRIGHT_INLINE operand parser::called_binary(const token& name, op o) {
  in_.expect("(");
  operand a = expression();
  int count = 1;
  for (; in_.accept(",") && !in_.at(")"); ++count) a = combine(name, o, std::move(a), expression());
  if (count == 1 && o != op::logical_and && o != op::logical_or)
    in_.fail("',' and another operand");
  in_.expect(")");
  return a;
}

/// T.all(a, b, ...), T.any(a, b, ...)
TILEWRIGHT_INLINE operand parser::all_or_any(const token& name) {
  return called_binary(name, name.text == "all" ? op::logical_and : op::logical_or);
}

/// T.Cast("float32", x), T.cast(x, "float32")
TILEWRIGHT_INLINE operand parser::conversion(const token& name) {
  in_.expect("(");
  dtype type = dtype::i32;
  operand value;
  if (at_namespace() && in_.peek(3).text == ",") {  // T.float32, x
    type = type_argument();
  } else {
    const token at = in_.peek();
    value = expression();
    if (value.value->op == op::text) {
      const auto known = type_from_text(value.value->name);
      if (!known) in_.fail(at, "the name of an element type, such as \"float32\"");
      type = *known;
      value.value = {};
    }
  }
  in_.expect(",");
  if (value.value) {
    if (in_.accept("dtype")) in_.expect("=");
    type = type_argument();
  } else {
    value = expression();
  }
  in_.accept(",");
  in_.expect(")");
  value.value = settle(value);
  value.bare = false;
  return deeper(name, converted(name, value, type), value.depth);
}

TILEWRIGHT_INLINE operand parser::choice(const token& name, op o) {
  in_.expect("(");
  const operand test = expression();
  in_.expect(",");
  operand yes = expression();
  in_.expect(",");
  operand no = expression();
  if (in_.accept(",") && in_.accept("dtype")) {
    in_.expect("="), type_argument();
    in_.accept(",");
  }
  in_.expect(")");
  return choose(name, o, test, std::move(yes), std::move(no));
}

TILEWRIGHT_INLINE operand parser::known_call(const token& name, std::string_view canonical) {
  in_.expect("(");
  std::vector<operand> given;
  int depth = 1;
  while (!in_.at(")")) {
    if (in_.at("dtype") && in_.peek(1).text == "=") {
      in_.next(), in_.next();
      type_argument();
    } else {
      // Old scripts print the type of the result in front.
      const bool type = given.empty() && in_.at(token_kind::string);
      if (type)
        type_argument();
      else
        given.push_back(expression());
    }
    if (!in_.accept(",") && !in_.at(")")) in_.fail("',' or ')'");
  }
  const std::size_t arity = intrinsic_arity(canonical);
  if (given.size() != arity)
    throw parse_error(name.at, std::to_string(arity) + " arguments of T." + std::string(name.text),
                      std::to_string(given.size()));
  in_.expect(")");
  // The first argument has a type; bare ones after it follow it.
  if (arity == 2 && canonical != "ldexp") unify(name, given[0], given[1]);
  std::vector<expr> args;
  for (const operand& arg : given) {
    depth = std::max(depth, arg.depth);
    const bool follows =
        !args.empty() && arg.bare && !(is_integer(args[0].type()) && arg.value->op == op::real);
    args.push_back(follows ? retype(name, arg, args[0].type()) : settle(arg));
    if (args.back().type() == dtype::handle) in_.fail(name, "numbers as arguments");
  }
  const dtype type = intrinsic_type(canonical, args[0].type());
  return deeper(name, call(type, std::string(canonical), std::move(args)), depth);
}

TILEWRIGHT_INLINE operand parser::ceiling_division(const token& name) {
  in_.expect("(");
  operand a = expression();
  in_.expect(",");
  operand b = expression();
  in_.accept(",");
  in_.expect(")");
  if (!is_integer(a.value.type()) || !is_integer(b.value.type())) in_.fail(name, "two integers");
  const int depth = std::max(a.depth, b.depth) + 3;
  unify(name, a, b);
  return deeper(name, ceildiv(a.value, b.value), depth);
}

/// T.min_value("float32"), T.max_value(...): finite; T.infinity("float32")
TILEWRIGHT_INLINE operand parser::limit_value(const token& name) {
  in_.expect("(");
  const dtype type = type_argument();
  in_.expect(")");
  if (type == dtype::handle || is_vector(type)) in_.fail(name, "an element type");
  if (name.text == "infinity") {
    if (!is_float(type) || !has_infinity(element_of(type)))
      in_.fail(name, "a float type that has infinities");
    return {highest_value(type)};
  }
  const bool lowest = name.text == "min_value";
  const bool narrow = is_narrow_float(type);
  if (narrow) return {real(type, lowest ? lowest_narrow(type) : largest_narrow(type))};
  if (!is_float(type)) return {lowest ? lowest_value(type) : highest_value(type)};
  const double largest = type == dtype::f64   ? std::numeric_limits<double>::max()
                         : type == dtype::f16 ? 65504.0
                         : type == dtype::f32
                             ? static_cast<double>(std::numeric_limits<float>::max())
                             : 0x1.fep127;
  return {real(type, lowest ? -largest : largest)};
}

/// Passes over one argument and the comma behind it, which `what` names.
TILEWRIGHT_INLINE void parser::skip_argument(std::string_view what) {
  int open = 0;
  while (open > 0 || !in_.at(",")) {  // the tokenizer has matched the brackets
    if (in_.at_end() || (open == 0 && in_.at(")"))) in_.fail(what);
    const token t = in_.next();
    if (t.kind != token_kind::symbol) continue;
    if (t.text == "(" || t.text == "[" || t.text == "{") ++open;
    if (t.text == ")" || t.text == "]" || t.text == "}") --open;
  }
  in_.expect(",");
}

/// T.Let(body, where={x: value}): the value comes last but gives the variable its type.
TILEWRIGHT_INLINE operand parser::let_expression(const token& name) {
  in_.expect("(");
  const std::size_t body_at = in_.mark();
  skip_argument("',' and where={x: value}");
  in_.expect("where");
  in_.expect("=");
  in_.expect("{");
  const token variable = in_.expect_name("a variable");
  in_.expect(":");
  const operand value = expression();
  in_.expect("}");
  in_.expect(")");
  const std::size_t end = in_.mark();
  const expr settled = settle(value);
  const entity* known = find(variable.text);
  const bool reuse = known && known->is == entity::kind::variable;
  const var v = reuse ? known->variable : make_var(std::string(variable.text), settled.type());
  const std::size_t scope = scope_.size();
  if (!reuse) define_variable(variable, v);
  in_.rewind(body_at);
  const operand body = expression();
  in_.rewind(end);
  leave_scope(scope);
  return deeper(name, let_in(v, converted(variable, value, v.type()), settle(body)),
                std::max(value.depth, body.depth));
}

}  // namespace tilewright::ir::detail
