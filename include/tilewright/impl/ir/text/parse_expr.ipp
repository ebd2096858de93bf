#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include <tilewright/impl/ir/affine.hpp>
#include <tilewright/impl/ir/intrinsics.hpp>
#include <tilewright/impl/ir/text/parser.hpp>

namespace tilewright::ir::detail {

/// A binary operator with its binding strength; `function` names the intrinsic of those that are
/// no `op`.
struct operator_entry {
  std::string_view symbol;
  int strength;
  op code;
  std::string_view function = {};
};
inline constexpr int comparison_strength = 4;
inline constexpr int power_strength = 11;
inline constexpr std::array<operator_entry, 20> script_operators{
    {{"or", 1, op::logical_or},
     {"and", 2, op::logical_and},
     {"==", 4, op::eq},
     {"!=", 4, op::ne},
     {"<", 4, op::lt},
     {"<=", 4, op::le},
     {">", 4, op::gt},
     {">=", 4, op::ge},
     {"|", 5, op::call, "bitwise_or"},
     {"^", 6, op::call, "bitwise_xor"},
     {"&", 7, op::call, "bitwise_and"},
     {"<<", 8, op::call, "shift_left"},
     {">>", 8, op::call, "shift_right"},
     {"+", 9, op::add},
     {"-", 9, op::sub},
     {"*", 10, op::mul},
     {"/", 10, op::div},
     {"//", 10, op::floordiv},
     {"%", 10, op::floormod},
     {"**", power_strength, op::call, "pow"}}};

inline const operator_entry* find_operator(const token& t) {
  if (t.kind != token_kind::symbol && t.kind != token_kind::name) return nullptr;
  for (const operator_entry& entry : script_operators)
    if (entry.symbol == t.text) return &entry;
  return nullptr;
}

inline bool is_logic(op o) { return o == op::logical_and || o == op::logical_or; }
inline bool is_comparison(op o) { return o >= op::eq && o <= op::ge; }

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

TILEWRIGHT_INLINE void parser::need_value(const token& at, const operand& o) const {
  if (!o.value) throw parse_error(at.at, "one value", "several");
}

TILEWRIGHT_INLINE operand parser::expression() {
  const token at = in_.peek();
  operand out = any();
  need_value(at, out);
  return out;
}

TILEWRIGHT_INLINE operand parser::any() {
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
  operand compared;  // right side of the last comparison: a < b < c is (a < b) and (b < c)
  bool chain = false;
  for (;;) {
    const token at = in_.peek();
    const operator_entry* entry = find_operator(at);
    if (!entry || entry->strength < weakest) return left;
    in_.next();
    const bool compares = entry->strength == comparison_strength;
    const bool to_the_right = entry->strength == power_strength;
    operand right = to_the_right ? unary() : binary(entry->strength + 1);
    need_value(at, left);
    need_value(at, right);
    if (!entry->function.empty()) {
      left = to_the_right ? power(at, std::move(left), std::move(right))
                          : bitwise(at, entry->function, std::move(left), std::move(right));
      continue;
    }
    if (entry->code == op::div && !is_float(left.value.type()) && !is_float(right.value.type())) {
      left = true_division(at, left, right);
      continue;
    }
    operand kept = compares ? right : operand{};
    if (compares && chain)
      left = combine(at, op::logical_and, std::move(left),
                     combine(at, entry->code, std::move(compared), std::move(right)));
    else
      left = combine(at, entry->code, std::move(left), std::move(right));
    chain = compares;
    compared = std::move(kept);
  }
}

TILEWRIGHT_INLINE operand parser::unary() {
  const token at = in_.peek();
  if (in_.accept("not")) {
    const level guard(*this);
    const operand value = binary(comparison_strength);
    need_value(at, value);
    if (!is_boolean(value.value.type())) in_.fail(at, "a boolean after not");
    return deeper(at, logical_not(value.value), value.depth);
  }
  if (in_.accept("+")) {
    const level guard(*this);
    return unary();
  }
  if (in_.accept("~")) {
    const level guard(*this);
    const operand value = unary();
    need_value(at, value);
    if (value.bare && is_int(value.value))
      return {integer(value.value.type(), ~value.value->integer), true};
    if (!is_integer(value.value.type()) && !is_boolean(value.value.type()))
      in_.fail(at, "an integer after ~");
    return deeper(at, call(value.value.type(), "bitwise_not", {value.value}), value.depth);
  }
  if (!in_.accept("-")) return atom();
  const level guard(*this);
  if ((in_.at(token_kind::integer) || in_.at(token_kind::real)) && in_.peek(1).text != "**" &&
      in_.peek(1).text != ".")
    return number(true);
  operand value = binary(power_strength);
  need_value(at, value);
  if (is_boolean(value.value.type()) || value.value.type() == dtype::handle)
    in_.fail(at, "a number after the sign");
  operand out = deeper(at, -value.value, value.depth);
  out.bare = value.bare;
  return out;
}

/// A scalar beside a vector is a vector of it.
TILEWRIGHT_INLINE void parser::unify_lanes(const token& at, operand& a, operand& b) const {
  const dtype of_a = a.value.type(), of_b = b.value.type();
  if (is_vector(of_a) && is_vector(of_b) && with_lanes(of_a, of_b) != of_a)
    throw parse_error(at.at, "as many lanes on both sides",
                      type_text(of_a) + " and " + type_text(of_b));
  for (auto [scalar, vector] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    if (is_vector(scalar->value.type()) || !is_vector(vector->value.type())) continue;
    scalar->value = broadcast(scalar->value, vector->value.type());
    scalar->depth += 1;
  }
}

/// The types of two operands, made one the way TVM does: a literal follows the other operand, an
/// integer becomes the float it meets, the narrower type widens.
TILEWRIGHT_INLINE void parser::unify(const token& at, operand& a, operand& b) const {
  const dtype of_a = element_of(a.value.type()), of_b = element_of(b.value.type());
  if (a.value.type() == b.value.type() && a.bare == b.bare) {
    if (a.bare && is_float(of_a)) a.value = settle(a), b.value = settle(b), a.bare = b.bare = false;
    return;
  }
  if (of_a == dtype::handle || of_b == dtype::handle)
    throw parse_error(at.at, "two numbers", type_text(of_a) + " and " + type_text(of_b));
  if (a.bare && b.bare) {
    if (is_float(of_a))
      b.value = retype(at, b, of_a);
    else if (is_float(of_b))
      a.value = retype(at, a, of_b);
    else
      return;
    return unify(at, a, b);
  }
  if (a.bare != b.bare) {
    operand& bare = a.bare ? a : b;
    operand& other = a.bare ? b : a;
    const dtype wanted = other.value.type();
    // A float of Python has 32 bits at least.
    if (is_float(bare.value.type()) && element_of(wanted) != dtype::f64)
      other.value = cast(with_lanes(dtype::f32, wanted), other.value);
    if (is_boolean(wanted)) other.value = cast(with_lanes(bare.value.type(), wanted), other.value);
    bare.value = retype(at, bare, element_of(other.value.type()));
    bare.bare = false;
    return unify_lanes(at, a, b);
  }
  unify_lanes(at, a, b);
  const auto as = [&](dtype scalar) { return with_lanes(scalar, a.value.type()); };
  if (is_float(of_a) != is_float(of_b)) {
    (is_float(of_a) ? b : a).value =
        cast(as(is_float(of_a) ? of_a : of_b), (is_float(of_a) ? b : a).value);
  } else if (is_float(of_a)) {
    const bool first = bits(of_a) >= bits(of_b);
    (first ? b : a).value = cast(as(first ? of_a : of_b), (first ? b : a).value);
  } else if (of_a == dtype::boolean || of_b == dtype::boolean) {
    const bool first = of_b == dtype::boolean;
    (first ? b : a).value = cast(as(first ? of_a : of_b), (first ? b : a).value);
  }
}

TILEWRIGHT_INLINE expr parser::retype(const token& at, const operand& bare, dtype type) const {
  const expr& value = bare.value;
  if (value.type() == type) return value;
  if (is_vector(type)) return broadcast(retype(at, bare, element_of(type)), type);
  const bool literal = value->op == op::real || value->op == op::integer;
  if (!literal || type == dtype::handle)
    throw parse_error(at.at, "a value of type " + type_text(type), type_text(value.type()));
  if (is_float(type))
    return real(type, value->op == op::real ? value->real : static_cast<double>(value->integer));
  std::int64_t whole = value->integer;
  bool fits = true;
  if (value->op == op::real) {
    fits = std::abs(value->real) < 0x1p62 && std::trunc(value->real) == value->real;
    whole = fits ? static_cast<std::int64_t>(value->real) : 0;
  }
  if (!fits || wrap_to(type, whole) != whole)
    throw parse_error(at.at, "a literal of type " + type_text(type), "another literal");
  return integer(type, whole);
}

TILEWRIGHT_INLINE expr parser::settle(const operand& o) const {
  if (!o.bare || o.value->op != op::real) return o.value;
  return real(dtype::f32, o.value->real);
}

TILEWRIGHT_INLINE expr parser::converted(const token& at, const operand& o, dtype type) const {
  need_value(at, o);
  if (o.bare) return retype(at, o, type);
  const dtype from = o.value.type();
  if (from == type) return o.value;
  if (from == dtype::handle || type == dtype::handle ||
      (is_vector(from) && with_lanes(from, type) != from))
    throw parse_error(at.at, "a value of type " + type_text(type), type_text(from));
  return cast(type, o.value);
}

TILEWRIGHT_INLINE operand parser::combine(const token& at, op o, operand a, operand b) {
  need_value(at, a);
  need_value(at, b);
  const bool bare = a.bare && b.bare && !is_float(a.value.type()) && !is_float(b.value.type());
  if (is_logic(o)) {
    if (!is_boolean(a.value.type()) || !is_boolean(b.value.type()))
      throw parse_error(at.at, "booleans on both sides",
                        type_text(a.value.type()) + " and " + type_text(b.value.type()));
    unify_lanes(at, a, b);
  } else {
    unify(at, a, b);
    if (!is_comparison(o) && is_boolean(a.value.type())) {
      if (o != op::min && o != op::max) in_.fail(at, "numbers on both sides");
    }
  }
  if (a.value.type() == dtype::handle) in_.fail(at, "numbers on both sides");
  const int depth = std::max(a.depth, b.depth);
  operand out = deeper(at, build_binary(o, a.value, b.value), depth);
  out.bare = bare && out.value->op == op::integer && !is_comparison(o);
  return out;
}

TILEWRIGHT_INLINE operand parser::bitwise(const token& at, std::string_view name, operand a,
                                          operand b) {
  if (a.bare && b.bare && is_int(a.value) && is_int(b.value)) {
    const std::int64_t x = a.value->integer, y = b.value->integer;
    const bool shifts = name.substr(0, 5) == "shift";
    if (shifts && (y < 0 || y > 62)) in_.fail(at, "a shift by 0 to 62");
    const std::int64_t value = name == "bitwise_or"    ? x | y
                               : name == "bitwise_and" ? x & y
                               : name == "bitwise_xor" ? x ^ y
                               : name == "shift_left"
                                   ? static_cast<std::int64_t>(static_cast<std::uint64_t>(x) << y)
                                   : x >> y;
    const bool narrow = value == static_cast<std::int32_t>(value);
    return {integer(narrow ? dtype::i32 : dtype::i64, value), true};
  }
  unify(at, a, b);
  const dtype type = a.value.type();
  if (is_float(type) || type == dtype::handle) in_.fail(at, "integers on both sides");
  if (type != b.value.type()) {
    const dtype wide = bits(type) >= bits(b.value.type()) ? type : b.value.type();
    a.value = cast(wide, a.value), b.value = cast(wide, b.value);
  }
  return deeper(at, call(a.value.type(), std::string(name), {a.value, b.value}),
                std::max(a.depth, b.depth));
}

TILEWRIGHT_INLINE operand parser::power(const token& at, operand base, operand exponent) {
  if (base.bare && exponent.bare && is_int(base.value) && is_int(exponent.value) &&
      exponent.value->integer >= 0) {
    std::int64_t value = 1;
    for (std::int64_t i = 0; i < exponent.value->integer; ++i) {
      if (std::abs(value) >
          (std::int64_t{1} << 62) / std::max<std::int64_t>(std::abs(base.value->integer), 1))
        in_.fail(at, "a power of 64 bits");
      value *= base.value->integer;
      if (i > 64 && std::abs(base.value->integer) <= 1) break;
    }
    const bool narrow = value == static_cast<std::int32_t>(value);
    return {integer(narrow ? dtype::i32 : dtype::i64, value), true};
  }
  unify(at, base, exponent);
  const expr a = settle(base), b = settle(exponent);
  return deeper(at, call(a.type(), "pow", {a, b}), std::max(base.depth, exponent.depth));
}

/// Python divides its own numbers; integers of the program want one of the other divisions.
TILEWRIGHT_INLINE operand parser::true_division(const token& at, const operand& a,
                                                const operand& b) {
  const bool numbers = a.bare && b.bare && is_int(a.value) && is_int(b.value);
  if (!numbers || b.value->integer == 0) in_.fail(at, "T.truncdiv or // between integers");
  return {real(dtype::f64,
               static_cast<double>(a.value->integer) / static_cast<double>(b.value->integer)),
          true};
}

TILEWRIGHT_INLINE operand parser::choose(const token& at, op o, const operand& condition,
                                         operand yes, operand no) {
  need_value(at, condition);
  need_value(at, yes);
  need_value(at, no);
  const bool decides = o == op::select ? is_boolean(condition.value.type())
                                       : condition.value.type() == dtype::boolean;
  if (!decides) in_.fail(at, "a boolean condition");
  const int depth = std::max(condition.depth, std::max(yes.depth, no.depth));
  unify(at, yes, no);
  const expr a = settle(yes), b = settle(no);
  const dtype test = condition.value.type();
  if (is_vector(test) && is_vector(a.type()) && with_lanes(test, a.type()) != test)
    throw parse_error(at.at, "as many lanes as the condition has", type_text(a.type()));
  return deeper(
      at, o == op::select ? select(condition.value, a, b) : if_then_else(condition.value, a, b),
      depth);
}

TILEWRIGHT_INLINE expr parser::integer_expr(std::string_view what) {
  const token at = in_.peek();
  const operand value = expression();
  if (!is_integer(value.value.type()) || is_vector(value.value.type())) in_.fail(at, what);
  return value.value;
}

TILEWRIGHT_INLINE expr parser::condition() {
  const token at = in_.peek();
  const operand value = expression();
  if (value.value.type() != dtype::boolean) in_.fail(at, "a boolean condition");
  return value.value;
}

}  // namespace tilewright::ir::detail
