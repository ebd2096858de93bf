#pragma once

#include <algorithm>
#include <array>
#include <optional>

#include <tilewright/impl/ir/affine.hpp>
#include <tilewright/impl/ir/parser.hpp>
#include <tilewright/ir/parse.hpp>

namespace tilewright::ir::detail {

/// Binding strength of a binary operator; 0 when the token is none.
struct operator_entry {
  std::string_view symbol;
  int strength;
  op code;
};
inline constexpr int comparison_strength = 4;
inline constexpr std::array<operator_entry, 13> script_operators{{{"or", 1, op::logical_or},
                                                                  {"and", 2, op::logical_and},
                                                                  {"==", 4, op::eq},
                                                                  {"!=", 4, op::ne},
                                                                  {"<", 4, op::lt},
                                                                  {"<=", 4, op::le},
                                                                  {">", 4, op::gt},
                                                                  {">=", 4, op::ge},
                                                                  {"+", 5, op::add},
                                                                  {"-", 5, op::sub},
                                                                  {"*", 6, op::mul},
                                                                  {"/", 6, op::div},
                                                                  {"//", 6, op::floordiv}}};

inline const operator_entry* find_operator(const token& t) {
  static constexpr operator_entry remainder{"%", 6, op::floormod};
  if (t.kind != token_kind::symbol && t.kind != token_kind::name) return nullptr;
  if (t.text == remainder.symbol) return &remainder;
  for (const operator_entry& entry : script_operators)
    if (entry.symbol == t.text) return &entry;
  return nullptr;
}

inline bool is_logic(op o) { return o == op::logical_and || o == op::logical_or; }
inline bool is_comparison(op o) { return o >= op::eq && o <= op::ge; }

inline std::string type_text(dtype t) { return std::string(name(t)); }

inline expr build_binary(op o, const expr& a, const expr& b) {
  switch (o) {
    case op::add: return a + b;
    case op::sub: return a - b;
    case op::mul: return a * b;
    case op::div: return div(a, b);
    case op::mod: return mod(a, b);
    case op::floordiv: return floordiv(a, b);
    case op::floormod: return floormod(a, b);
    case op::min: return min(a, b);
    case op::max: return max(a, b);
    case op::eq: return eq(a, b);
    case op::ne: return ne(a, b);
    case op::lt: return lt(a, b);
    case op::le: return le(a, b);
    case op::gt: return gt(a, b);
    case op::ge: return ge(a, b);
    case op::logical_and: return logical_and(a, b);
    default: return logical_or(a, b);
  }
}

TILEWRIGHT_INLINE operand parser::deeper(const token& at, expr value, int depth) const {
  if (depth >= max_depth) in_.fail(at, "an expression of at most 1000 levels");
  return {std::move(value), false, depth + 1};
}

TILEWRIGHT_INLINE operand parser::expression() {
  const level guard(*this);
  operand value = binary(1);
  const token at = in_.peek();
  if (!in_.accept("if")) return value;
  const operand test = binary(1);
  in_.expect("else");
  return choose(at, op::if_then_else, test, std::move(value), expression());
}

TILEWRIGHT_INLINE operand parser::binary(int weakest) {
  operand left = unary();
  bool compared = false;
  for (;;) {
    const token at = in_.peek();
    const operator_entry* entry = find_operator(at);
    if (!entry || entry->strength < weakest) return left;
    const bool compares = entry->strength == comparison_strength;
    if (compares && compared) in_.fail("parentheses around one of two comparisons");
    compared = compares;
    in_.next();
    operand right = binary(entry->strength + 1);
    if (entry->code == op::div && !is_float(left.value.type()) && !is_float(right.value.type()))
      in_.fail(at, "T.truncdiv or // between integers");
    left = combine(at, entry->code, std::move(left), std::move(right));
  }
}

TILEWRIGHT_INLINE operand parser::unary() {
  const token at = in_.peek();
  if (in_.accept("not")) {
    const level guard(*this);
    const operand value = binary(comparison_strength);
    if (value.value.type() != dtype::boolean) in_.fail(at, "a boolean after not");
    return deeper(at, logical_not(value.value), value.depth);
  }
  if (in_.accept("+")) {
    const level guard(*this);
    return unary();
  }
  if (!in_.accept("-")) return atom();
  const level guard(*this);
  if (in_.at(token_kind::integer) || in_.at(token_kind::real)) return number(true);
  const operand value = unary();
  if (value.value.type() == dtype::boolean) in_.fail(at, "a number after the sign");
  operand out = deeper(at, -value.value, value.depth);
  out.bare = value.bare;
  return out;
}

TILEWRIGHT_INLINE operand parser::number(bool negative) {
  const token t = in_.next();
  if (t.kind == token_kind::real) {
    const double value = decode_real(t);
    return {real(dtype::f64, negative ? -value : value), true};
  }
  const std::uint64_t magnitude = decode_integer(t);
  const std::uint64_t limit = std::uint64_t{1} << 63;
  if (magnitude > limit || (magnitude == limit && !negative))
    in_.fail(t, "an int64; write T.uint64(...)");
  const auto value = static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
  const bool narrow = value == static_cast<std::int32_t>(value);
  return {integer(narrow ? dtype::i32 : dtype::i64, value), true};
}

TILEWRIGHT_INLINE operand parser::atom() {
  switch (in_.peek().kind) {
    case token_kind::integer:
    case token_kind::real: return number(false);
    case token_kind::name: return named();
    default: break;
  }
  if (!in_.accept("(")) in_.fail("an expression");
  operand inner = expression();
  in_.expect(")");
  return inner;
}

TILEWRIGHT_INLINE operand parser::named() {
  if (in_.at("tvm") && in_.peek(1).text == ".") in_.next(), in_.next();
  const bool calls = in_.at("T") || in_.at("tir") || in_.at("tirx");
  if (calls && in_.peek(1).text == ".") return intrinsic();
  if (in_.accept("True")) return {boolean(true)};
  if (in_.accept("False")) return {boolean(false)};
  const token name = in_.next();
  const entity& meant = lookup(name);
  if (meant.is == entity::kind::variable) return {meant.variable};
  if (meant.is == entity::kind::handle) in_.fail(name, "a buffer; match this handle first");
  const buffer b = meant.tensor;
  int depth = 1;
  std::vector<expr> at = indices(b, depth);
  return deeper(name, load(b, std::move(at)), depth);
}

TILEWRIGHT_INLINE std::vector<expr> parser::indices(const buffer& b, int& depth) {
  const token open = in_.expect("[");
  std::vector<expr> out;
  if (in_.at("(") && in_.peek(1).text == ")") {
    in_.next(), in_.next();
  } else {
    do {
      if (in_.at("]")) break;
      const token at = in_.peek();
      const operand index = expression();
      if (!is_integer(index.value.type())) in_.fail(at, "an integer index");
      depth = std::max(depth, index.depth);
      out.push_back(index.value);
    } while (in_.accept(","));
  }
  in_.expect("]");
  if (out.size() != b->shape.size())
    throw parse_error(open.at, std::to_string(b->shape.size()) + " indices of " + b->name,
                      std::to_string(out.size()));
  return out;
}

/// The types of two operands, made one; refuses what no conversion without a cast joins.
TILEWRIGHT_INLINE void parser::unify(const token& at, operand& a, operand& b) const {
  const dtype of_a = a.value.type(), of_b = b.value.type();
  if (of_a == of_b && a.bare == b.bare) {
    if (a.bare && is_float(of_a)) a = {settle(a)}, b = {settle(b)};
    return;
  }
  if (a.bare && b.bare) {
    if (is_float(of_a))
      b.value = retype(at, b, of_a);
    else if (is_float(of_b))
      a.value = retype(at, a, of_b);
    else
      return;
    return unify(at, a, b);
  }
  if (a.bare) {
    a = {retype(at, a, of_b)};
  } else if (b.bare) {
    b = {retype(at, b, of_a)};
  } else if (!is_integer(of_a) || !is_integer(of_b)) {
    throw parse_error(at.at, "operands of one type; use T.Cast",
                      type_text(of_a) + " and " + type_text(of_b));
  }
}

TILEWRIGHT_INLINE expr parser::retype(const token& at, const operand& bare, dtype type) const {
  const expr& value = bare.value;
  if (value.type() == type) return value;
  if (is_float(type))
    return real(type, value->op == op::real ? value->real : static_cast<double>(value->integer));
  const bool fits = value->op == op::integer && wrap_to(type, value->integer) == value->integer;
  if (!fits) throw parse_error(at.at, "a literal of type " + type_text(type), "another literal");
  return integer(type, value->integer);
}

TILEWRIGHT_INLINE expr parser::settle(const operand& o) const {
  if (!o.bare || o.value->op != op::real) return o.value;
  return real(dtype::f32, o.value->real);
}

TILEWRIGHT_INLINE expr parser::settled_as(const token& at, const operand& o, dtype type) const {
  if (o.bare) return retype(at, o, type);
  if (o.value.type() != type)
    throw parse_error(at.at, "a value of type " + type_text(type) + "; use T.Cast",
                      type_text(o.value.type()));
  return o.value;
}

TILEWRIGHT_INLINE operand parser::combine(const token& at, op o, operand a, operand b) {
  const bool bare = a.bare && b.bare && !is_float(a.value.type()) && !is_float(b.value.type());
  if (is_logic(o)) {
    if (a.value.type() != dtype::boolean || b.value.type() != dtype::boolean)
      throw parse_error(at.at, "booleans on both sides",
                        type_text(a.value.type()) + " and " + type_text(b.value.type()));
  } else {
    const int depth_a = a.depth, depth_b = b.depth;
    unify(at, a, b);
    a.depth = depth_a, b.depth = depth_b;
    if (!is_comparison(o) && a.value.type() == dtype::boolean)
      in_.fail(at, "numbers on both sides");
  }
  const int depth = std::max(a.depth, b.depth);
  operand out = deeper(at, build_binary(o, a.value, b.value), depth);
  out.bare = bare && out.value->op == op::integer && !is_comparison(o);
  return out;
}

TILEWRIGHT_INLINE operand parser::choose(const token& at, op o, const operand& condition,
                                         operand yes, operand no) {
  if (condition.value.type() != dtype::boolean) in_.fail(at, "a boolean condition");
  const int depth = std::max(condition.depth, std::max(yes.depth, no.depth));
  unify(at, yes, no);
  const expr a = settle(yes), b = settle(no);
  return deeper(
      at, o == op::select ? select(condition.value, a, b) : if_then_else(condition.value, a, b),
      depth);
}

TILEWRIGHT_INLINE expr parser::expression_of(const std::vector<var>& variables) {
  for (const var& v : variables) {
    names_[v->name].push_back({entity::kind::variable, v, {}, {}, 0});
    scope_.push_back(v->name);
  }
  return settle(expression());
}

TILEWRIGHT_INLINE expr parser::integer_expr(std::string_view what) {
  const token at = in_.peek();
  const operand value = expression();
  if (!is_integer(value.value.type())) in_.fail(at, what);
  return value.value;
}

TILEWRIGHT_INLINE expr parser::condition() {
  const token at = in_.peek();
  const operand value = expression();
  if (value.value.type() != dtype::boolean) in_.fail(at, "a boolean condition");
  return value.value;
}

TILEWRIGHT_INLINE dtype parser::type_of(const token& t) const {
  const auto known =
      dtype_from_name(t.kind == token_kind::string ? t.text.substr(1, t.text.size() - 2) : t.text);
  if (!known) in_.fail(t, "the name of an element type, such as \"float32\"");
  return *known;
}

TILEWRIGHT_INLINE dtype parser::type_name() {
  const token t = in_.expect_string("the name of an element type, such as \"float32\"");
  return type_of(t);
}

/// `i`, or `start:stop`
TILEWRIGHT_INLINE range parser::slice() {
  const token at = in_.peek();
  operand start = expression();
  if (!is_integer(start.value.type())) in_.fail(at, "an integer index");
  const token colon = in_.peek();
  if (!in_.accept(":")) return {start.value, integer(start.value.type(), 1)};
  operand stop = expression();
  if (!is_integer(stop.value.type())) in_.fail(colon, "an integer index after ':'");
  unify(colon, start, stop);
  return {start.value, extent_between(start.value, stop.value)};
}

/// A buffer with indices or slices; alone it means the whole.
TILEWRIGHT_INLINE buffer_region parser::region() {
  const token name = in_.expect_name("a buffer");
  const entity& meant = lookup(name);
  if (meant.is != entity::kind::tensor) in_.fail(name, "a buffer");
  const buffer b = meant.tensor;
  if (!in_.at("[")) return full_region(b);
  const token open = in_.next();
  buffer_region out{b, {}};
  if (in_.at("(") && in_.peek(1).text == ")") {
    in_.next(), in_.next();
  } else {
    do {
      if (in_.at("]")) break;
      out.box.push_back(slice());
    } while (in_.accept(","));
  }
  in_.expect("]");
  if (out.box.size() != b->shape.size())
    throw parse_error(open.at, std::to_string(b->shape.size()) + " indices of " + b->name,
                      std::to_string(out.box.size()));
  return out;
}

/// `(a, b)`, `[a, b]` or one expression: extents or strides
TILEWRIGHT_INLINE std::vector<expr> parser::dims() {
  const std::string_view close = in_.accept("(") ? ")" : in_.accept("[") ? "]" : "";
  std::vector<expr> out;
  if (close.empty()) return {integer_expr("an integer extent")};
  while (!in_.at(close)) {
    out.push_back(integer_expr("an integer extent"));
    if (!in_.accept(",") && !in_.at(close)) in_.fail("',' between extents");
  }
  in_.expect(close);
  return out;
}

}  // namespace tilewright::ir::detail

namespace tilewright::ir {

TILEWRIGHT_INLINE expr parse_expr(token_stream& in, const std::vector<var>& variables) {
  detail::parser reader(std::move(in));
  expr out = reader.expression_of(variables);
  in = reader.release();
  return out;
}

}  // namespace tilewright::ir
