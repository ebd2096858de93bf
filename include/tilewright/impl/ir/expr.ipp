#pragma once

#include <cmath>
#include <limits>

#include <tilewright/impl/ir/operands.hpp>
#include <tilewright/impl/ir/small_integers.hpp>
#include <tilewright/ir/expr.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/numbers/narrow_float.hpp>

namespace tilewright::ir {
namespace detail {

inline expr make_node(op o, dtype type, std::vector<expr> args) {
  auto* node = new expr_node;
  node->op = o;
  node->type = type;
  for (const expr& arg : args) node->reads_memory = node->reads_memory || arg->reads_memory;
  node->args = std::move(args);
  return expr(support::ref<const expr_node>(node));
}

/// Without the copies that an initializer list makes.
inline expr make_binary(op o, dtype type, expr a, expr b) {
  std::vector<expr> args;
  args.reserve(2);
  args.push_back(std::move(a));
  args.push_back(std::move(b));
  return make_node(o, type, std::move(args));
}

/// Gives both operands one type: a literal that the other operand's type holds follows it, else the
/// wider type wins.
inline void match_types(const char* what, expr& a, expr& b) {
  if (!a || !b) throw internal_error(std::string("null operand of ") + what);
  if (a.type() == b.type()) return;
  if (is_vector(a.type()) != is_vector(b.type())) {
    a = broadcast(a, b.type()), b = broadcast(b, a.type());
    return match_types(what, a, b);
  }
  if (lanes(a.type()) != lanes(b.type()) || is_scalable(a.type()) != is_scalable(b.type()))
    throw internal_error(std::string(what) + " of " + std::string(name(a.type())) + " and " +
                         std::string(name(b.type())) + "; give them as many lanes");
  const bool integers = !is_float(a.type()) && !is_float(b.type());
  if (!integers)
    throw internal_error(std::string(what) + " of " + std::string(name(a.type())) + " and " +
                         std::string(name(b.type())) + "; cast one of them");
  const auto follows = [](const expr& literal, const expr& other) {
    return is_int(literal) && !is_int(other) &&
           wrap_to(other.type(), literal->integer) == literal->integer;
  };
  if (follows(a, b)) {
    a = integer(b.type(), a->integer);
  } else if (follows(b, a)) {
    b = integer(a.type(), b->integer);
  } else if (bits(a.type()) >= bits(b.type())) {
    b = cast(a.type(), b);
  } else {
    a = cast(b.type(), a);
  }
}

inline expr binary(op o, const char* what, expr a, expr b) {
  match_types(what, a, b);
  const dtype type = a.type();
  if (is_int(a) && is_int(b) && type != dtype::boolean) {
    const bool divides = o == op::div || o == op::mod || o == op::floordiv || o == op::floormod;
    if (!divides || b->integer != 0)
      return integer(type, fold_integer(o, type, a->integer, b->integer));
  }
  return make_binary(o, type, std::move(a), std::move(b));
}

inline expr compare(op o, const char* what, expr a, expr b) {
  match_types(what, a, b);
  if (is_int(a) && is_int(b)) {
    const bool wide = a.type() == dtype::u64;
    const std::int64_t x = a->integer, y = b->integer;
    const auto ux = static_cast<std::uint64_t>(x), uy = static_cast<std::uint64_t>(y);
    const bool less = wide ? ux < uy : x < y;
    switch (o) {
      case op::eq: return boolean(x == y);
      case op::ne: return boolean(x != y);
      case op::lt: return boolean(less);
      case op::le: return boolean(less || x == y);
      case op::gt: return boolean(!less && x != y);
      case op::ge: return boolean(!less);
      default: break;
    }
  }
  const dtype type = with_lanes(dtype::boolean, a.type());
  return make_binary(o, type, std::move(a), std::move(b));
}

inline void need_boolean(const char* what, const expr& e) {
  if (!is_boolean(e.type()))
    throw internal_error(std::string(what) + " of " + std::string(name(e.type())) +
                         " needs a boolean");
}

}  // namespace detail

TILEWRIGHT_INLINE expr::expr(int value) : expr(integer(dtype::i32, value)) {}
TILEWRIGHT_INLINE expr::expr(std::int64_t value) : expr(integer(dtype::i64, value)) {}

TILEWRIGHT_INLINE var make_var(std::string name, dtype type) {
  auto* node = new expr_node;
  node->op = op::var;
  node->type = type;
  node->name = std::move(name);
  return expr(support::ref<const expr_node>(node));
}

TILEWRIGHT_INLINE expr integer(dtype type, std::int64_t value) {
  if (is_vector(type)) return broadcast(integer(element_of(type), value), type);
  if (detail::small_integers::hold(type, value)) return detail::small_integers::at(type, value);
  return detail::make_integer(type, wrap_to(type, value));
}

TILEWRIGHT_INLINE expr real(dtype type, double value) {
  if (is_vector(type)) return broadcast(real(element_of(type), value), type);
  auto* node = new expr_node;
  node->op = op::real;
  node->type = type;
  if (is_narrow_float(type))
    node->real = widen_narrow(type, round_to_narrow(type, value));
  else
    node->real = type == dtype::f64 ? value : static_cast<double>(static_cast<float>(value));
  return expr(support::ref<const expr_node>(node));
}

TILEWRIGHT_INLINE expr boolean(bool value) { return integer(dtype::boolean, value ? 1 : 0); }

TILEWRIGHT_INLINE expr literal(dtype type, double value) {
  return is_float(type) ? real(type, value) : integer(type, static_cast<std::int64_t>(value));
}

TILEWRIGHT_INLINE expr lowest_value(dtype type) {
  const dtype scalar = element_of(type);
  if (is_float(type) && has_infinity(scalar))
    return real(type, -std::numeric_limits<double>::infinity());
  if (is_float(type)) return real(type, lowest_narrow(scalar));
  if (is_unsigned(type) || is_boolean(type)) return integer(type, 0);
  return integer(type, static_cast<std::int64_t>(std::uint64_t{1} << (bits(type) - 1)));
}

TILEWRIGHT_INLINE expr highest_value(dtype type) {
  const dtype scalar = element_of(type);
  if (is_float(type) && has_infinity(scalar))
    return real(type, std::numeric_limits<double>::infinity());
  if (is_float(type)) return real(type, largest_narrow(scalar));
  if (is_boolean(type)) return integer(type, 1);
  if (is_unsigned(type)) return integer(type, -1);
  return integer(type, static_cast<std::int64_t>((std::uint64_t{1} << (bits(type) - 1)) - 1));
}

TILEWRIGHT_INLINE buffer make_buffer(std::string name, dtype type, std::vector<expr> shape,
                                     std::string scope) {
  auto* node = new buffer_node;
  node->name = std::move(name);
  node->type = type;
  node->shape = std::move(shape);
  node->scope = std::move(scope);
  return buffer(node);
}

TILEWRIGHT_INLINE std::int64_t wrap_to(dtype type, std::int64_t value) {
  const auto raw = static_cast<std::uint64_t>(value);
  switch (type) {
    case dtype::boolean: return value != 0 ? 1 : 0;
    case dtype::i8: return static_cast<std::int8_t>(raw);
    case dtype::i16: return static_cast<std::int16_t>(raw);
    case dtype::i32: return static_cast<std::int32_t>(raw);
    case dtype::u8: return static_cast<std::uint8_t>(raw);
    case dtype::u16: return static_cast<std::uint16_t>(raw);
    case dtype::u32: return static_cast<std::uint32_t>(raw);
    default: break;
  }
  if (is_vector(type)) return wrap_to(element_of(type), value);
  if (!is_bit_integer(type)) return value;
  const int unused = 64 - bits(type);
  return is_unsigned(type) ? static_cast<std::int64_t>(raw << unused >> unused)
                           : static_cast<std::int64_t>(raw << unused) >> unused;
}

TILEWRIGHT_INLINE std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  if (b == -1) return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(a));
  const std::int64_t q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

TILEWRIGHT_INLINE std::int64_t floor_modulo(std::int64_t a, std::int64_t b) {
  if (b == -1) return 0;
  const std::int64_t r = a % b;
  return (r != 0 && (r < 0) != (b < 0)) ? r + b : r;
}

TILEWRIGHT_INLINE std::int64_t fold_integer(op o, dtype type, std::int64_t a, std::int64_t b) {
  const auto ua = static_cast<std::uint64_t>(a), ub = static_cast<std::uint64_t>(b);
  const bool wide = type == dtype::u64;  // narrower unsigned values are non-negative in 64 bits
  const auto as_signed = [](std::uint64_t v) { return static_cast<std::int64_t>(v); };
  std::int64_t r = 0;
  switch (o) {
    case op::add: r = as_signed(ua + ub); break;
    case op::sub: r = as_signed(ua - ub); break;
    case op::mul: r = as_signed(ua * ub); break;
    case op::div: r = wide ? as_signed(ua / ub) : b == -1 ? as_signed(0 - ua) : a / b; break;
    case op::mod: r = wide ? as_signed(ua % ub) : b == -1 ? 0 : a % b; break;
    case op::floordiv: r = wide ? as_signed(ua / ub) : floor_divide(a, b); break;
    case op::floormod: r = wide ? as_signed(ua % ub) : floor_modulo(a, b); break;
    case op::min: r = (wide ? ua < ub : a < b) ? a : b; break;
    case op::max: r = (wide ? ua < ub : a < b) ? b : a; break;
    default: throw internal_error("fold_integer of an operator that is no arithmetic");
  }
  return wrap_to(type, r);
}

TILEWRIGHT_INLINE expr operator+(const expr& a, const expr& b) {
  if (is_int(a, 0) && !is_float(b.type())) return b;
  if (is_int(b, 0) && !is_float(a.type())) return a;
  return detail::binary(op::add, "sum", a, b);
}

TILEWRIGHT_INLINE expr operator-(const expr& a, const expr& b) {
  if (is_int(b, 0) && !is_float(a.type())) return a;
  return detail::binary(op::sub, "difference", a, b);
}

TILEWRIGHT_INLINE expr operator*(const expr& a, const expr& b) {
  if (!is_float(a.type()) && !is_float(b.type())) {
    if (is_int(a, 1)) return b;
    if (is_int(b, 1)) return a;
    if (is_int(a, 0)) return integer(b.type(), 0);
    if (is_int(b, 0)) return integer(a.type(), 0);
  }
  return detail::binary(op::mul, "product", a, b);
}

TILEWRIGHT_INLINE expr operator-(const expr& a) {
  if (a->op == op::real) return real(a.type(), -a->real);
  // -0.0 - x would be x for x = 0: the negation of a float is a product
  if (is_float(a.type())) return a * real(a.type(), -1.0);
  return integer(a.type(), 0) - a;
}

TILEWRIGHT_INLINE expr div(const expr& a, const expr& b) {
  return detail::binary(op::div, "quotient", a, b);
}
TILEWRIGHT_INLINE expr mod(const expr& a, const expr& b) {
  return detail::binary(op::mod, "remainder", a, b);
}
TILEWRIGHT_INLINE expr floordiv(const expr& a, const expr& b) {
  if (is_int(b, 1)) return a;
  return detail::binary(op::floordiv, "floordiv", a, b);
}
TILEWRIGHT_INLINE expr floormod(const expr& a, const expr& b) {
  if (is_int(b, 1)) return integer(a.type(), 0);
  return detail::binary(op::floormod, "floormod", a, b);
}
TILEWRIGHT_INLINE expr min(const expr& a, const expr& b) {
  if (a.same(b)) return a;
  return detail::binary(op::min, "min", a, b);
}
TILEWRIGHT_INLINE expr max(const expr& a, const expr& b) {
  if (a.same(b)) return a;
  return detail::binary(op::max, "max", a, b);
}
TILEWRIGHT_INLINE expr eq(const expr& a, const expr& b) {
  return detail::compare(op::eq, "==", a, b);
}
TILEWRIGHT_INLINE expr ne(const expr& a, const expr& b) {
  return detail::compare(op::ne, "!=", a, b);
}
TILEWRIGHT_INLINE expr lt(const expr& a, const expr& b) {
  return detail::compare(op::lt, "<", a, b);
}
TILEWRIGHT_INLINE expr le(const expr& a, const expr& b) {
  return detail::compare(op::le, "<=", a, b);
}
TILEWRIGHT_INLINE expr gt(const expr& a, const expr& b) {
  return detail::compare(op::gt, ">", a, b);
}
TILEWRIGHT_INLINE expr ge(const expr& a, const expr& b) {
  return detail::compare(op::ge, ">=", a, b);
}

TILEWRIGHT_INLINE expr logical_and(const expr& a, const expr& b) {
  detail::need_boolean("and", a);
  detail::need_boolean("and", b);
  if (is_int(a)) return a->integer ? b : a;
  if (is_int(b)) return b->integer ? a : b;
  return detail::make_binary(op::logical_and, a.type(), a, b);
}
TILEWRIGHT_INLINE expr logical_or(const expr& a, const expr& b) {
  detail::need_boolean("or", a);
  detail::need_boolean("or", b);
  if (is_int(a)) return a->integer ? a : b;
  if (is_int(b)) return b->integer ? b : a;
  return detail::make_binary(op::logical_or, a.type(), a, b);
}
TILEWRIGHT_INLINE expr logical_not(const expr& a) {
  detail::need_boolean("not", a);
  if (is_int(a)) return boolean(a->integer == 0);
  if (a->op == op::logical_not) return a->args[0];
  return detail::make_node(op::logical_not, a.type(), {a});
}

namespace detail {
inline expr choose(op o, const char* what, const expr& condition, expr yes, expr no) {
  need_boolean(what, condition);
  match_types(what, yes, no);
  if (is_vector(condition.type()))
    yes = broadcast(yes, condition.type()), no = broadcast(no, condition.type());
  if (is_int(condition)) return condition->integer ? yes : no;
  const dtype type = yes.type();
  return make_node(o, type, {condition, std::move(yes), std::move(no)});
}
}  // namespace detail

TILEWRIGHT_INLINE expr select(const expr& condition, const expr& yes, const expr& no) {
  return detail::choose(op::select, "select", condition, yes, no);
}
TILEWRIGHT_INLINE expr if_then_else(const expr& condition, const expr& yes, const expr& no) {
  return detail::choose(op::if_then_else, "if_then_else", condition, yes, no);
}

TILEWRIGHT_INLINE expr cast(dtype type, const expr& value) {
  if (value.type() == type) return value;
  if (is_vector(type) && !is_vector(value.type()))
    return broadcast(cast(element_of(type), value), type);
  if (is_int(value)) {
    if (!is_float(type)) return integer(type, value->integer);
    // A 64-bit literal may not be exact in a double; leave such a cast to run time.
    if (value.type() != dtype::u64 && std::abs(value->integer) < (std::int64_t{1} << 24))
      return real(type, static_cast<double>(value->integer));
  }
  return detail::make_node(op::cast, type, {value});
}

TILEWRIGHT_INLINE expr load(const buffer& from, std::vector<expr> indices) {
  if (indices.size() != from->shape.size())
    throw internal_error("load of " + from->name + " with " + std::to_string(indices.size()) +
                         " indices; its rank is " + std::to_string(from->shape.size()));
  auto* node = new expr_node;
  node->op = op::load;
  node->reads_memory = true;
  node->type = access_type(from, indices);
  node->buffer = from;
  node->args = std::move(indices);
  return expr(support::ref<const expr_node>(node));
}

TILEWRIGHT_INLINE expr broadcast(const expr& value, dtype like) {
  if (!is_vector(like) || is_vector(value.type())) return value;
  expr count = integer(dtype::i32, lanes(like));
  if (is_scalable(like)) count = call(dtype::i32, "tir.vscale", {}) * count;
  return call(with_lanes(value.type(), like), "tir.Broadcast", {value, count});
}

TILEWRIGHT_INLINE expr ramp(const expr& base, const expr& stride, int lanes) {
  return call(vector_type(base.type(), lanes), "tir.Ramp",
              {base, stride, integer(dtype::i32, lanes)});
}

TILEWRIGHT_INLINE dtype access_type(const buffer& b, const std::vector<expr>& indices) {
  std::int64_t count = lanes(b->type);
  bool scalable = is_scalable(b->type);
  for (const expr& index : indices) {
    count *= lanes(index.type());
    scalable = scalable || is_scalable(index.type());
    if (count > most_lanes) throw internal_error("access of " + b->name + " in too many lanes");
  }
  return vector_type(b->type, static_cast<int>(count), scalable);
}

TILEWRIGHT_INLINE expr call(dtype type, std::string name, std::vector<expr> args) {
  auto* node = new expr_node;
  node->op = op::call;
  node->reads_memory = true;
  node->type = type;
  node->name = std::move(name);
  node->args = std::move(args);
  return expr(support::ref<const expr_node>(node));
}

TILEWRIGHT_INLINE expr text(std::string value) {
  auto* node = new expr_node;
  node->op = op::text;
  node->type = dtype::handle;
  node->name = std::move(value);
  return expr(support::ref<const expr_node>(node));
}

TILEWRIGHT_INLINE expr data(const buffer& of) {
  auto* node = new expr_node;
  node->op = op::data;
  node->type = dtype::handle;
  node->buffer = of;
  return expr(support::ref<const expr_node>(node));
}

TILEWRIGHT_INLINE expr let_in(const var& v, const expr& value, const expr& body) {
  return detail::make_node(op::let, body.type(), {v, value, body});
}

TILEWRIGHT_INLINE expr detail::with_operands(const expr& like, const expr& a, const expr& b) {
  switch (like->op) {
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
    case op::logical_or: return logical_or(a, b);
    default: throw internal_error("with_operands of an operator that has not two");
  }
}

TILEWRIGHT_INLINE expr with_args(const expr& like, std::vector<expr> args) {
  if (detail::has_two_operands(like->op)) return detail::with_operands(like, args[0], args[1]);
  switch (like->op) {
    case op::logical_not: return logical_not(args[0]);
    case op::select: return select(args[0], args[1], args[2]);
    case op::if_then_else: return if_then_else(args[0], args[1], args[2]);
    case op::cast: return cast(like.type(), args[0]);
    case op::load: return load(like->buffer, std::move(args));
    case op::call: {
      const bool lanes_of =
          is_vector(like.type()) && (like->name == "tir.Broadcast" || like->name == "tir.Ramp");
      const dtype type = lanes_of ? with_lanes(args[0].type(), like.type()) : like.type();
      return call(type, like->name, std::move(args));
    }
    case op::let: return let_in(args[0], args[1], args[2]);
    default: return like;
  }
}

TILEWRIGHT_INLINE expr ceildiv(const expr& a, const expr& b) {
  return floordiv(a + (b - integer(b.type(), 1)), b);
}

}  // namespace tilewright::ir
