// Leaves of expressions, and what Python knows about them: attributes, tuples, subscripts.
#pragma once

#include <algorithm>
#include <limits>

#include <tilewright/impl/ir/affine.hpp>
#include <tilewright/impl/ir/text/parser.hpp>

namespace tilewright::ir::detail {

inline operand text_operand(std::string value) { return {text(std::move(value))}; }

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

TILEWRIGHT_INLINE operand parser::string() {
  std::string out = decode_string(in_.next());
  while (in_.at(token_kind::string)) out += decode_string(in_.next());
  return text_operand(std::move(out));
}

TILEWRIGHT_INLINE operand parser::atom() {
  switch (in_.peek().kind) {
    case token_kind::integer:
    case token_kind::real: return number(false);
    case token_kind::name: return postfix(named());
    case token_kind::string: return postfix(string());
    default: break;
  }
  if (in_.accept("[")) return postfix(sequence("]"));
  if (!in_.accept("(")) in_.fail("an expression");
  return postfix(sequence(")"));
}

/// The rest of a tuple, a list or an expression in parentheses.
TILEWRIGHT_INLINE operand parser::sequence(std::string_view close) {
  operand out;
  out.tuple = true;
  bool commas = close == "]";
  while (!in_.at(close)) {
    const token at = in_.peek();
    const bool star = in_.accept("*");
    operand item = any();
    if (star && !item.tuple) in_.fail(at, "a tuple after *");
    if (star)
      for (operand& part : item.items) out.items.push_back(std::move(part));
    else
      out.items.push_back(std::move(item));
    commas = commas || star;
    if (in_.accept(","))
      commas = true;
    else if (!in_.at(close))
      in_.fail(close == "]" ? "',' or ']'" : "',' or ')'");
  }
  in_.expect(close);
  if (!commas && out.items.size() == 1) {
    // A copy first: the item is a part of what it is assigned to.
    operand only = std::move(out.items.front());
    return only;
  }
  return out;
}

/// What follows a value: `.astype("float16")`, `.dtype`, `[0]` of a tuple.
TILEWRIGHT_INLINE operand parser::postfix(operand o) {
  for (;;) {
    const token at = in_.peek();
    if (o.tuple && in_.at("[")) {
      o = subscript(at, o);
      continue;
    }
    if (o.tuple || !in_.at(".") || !o.value) return o;
    in_.next();
    const token name = in_.expect_name("astype or dtype");
    if (name.text == "dtype") {
      o = text_operand(type_text(settle(o).type()));
    } else if (name.text == "astype") {
      in_.expect("(");
      const dtype type = type_argument();
      in_.expect(")");
      const int depth = o.depth;
      o = o.bare ? operand{retype(at, o, type)} : deeper(at, converted(at, o, type), depth);
    } else {
      in_.fail(name, "astype or dtype");
    }
  }
}

TILEWRIGHT_INLINE operand parser::subscript(const token& at, const operand& of) {
  in_.expect("[");
  const auto size = static_cast<std::int64_t>(of.items.size());
  std::int64_t first = 0, last = size;
  const auto bound = [&](std::int64_t given) {
    return std::clamp<std::int64_t>(given < 0 ? given + size : given, 0, size);
  };
  if (!in_.at(":")) first = constant_integer(at, expression());
  if (in_.accept(":")) {
    if (!in_.at("]")) last = bound(constant_integer(at, expression()));
    in_.expect("]");
    operand out;
    out.tuple = true;
    for (std::int64_t i = bound(first); i < last; ++i)
      out.items.push_back(of.items[static_cast<std::size_t>(i)]);
    return out;
  }
  in_.expect("]");
  if (first < 0) first += size;
  if (first < 0 || first >= size)
    throw parse_error(at.at, "an index below " + std::to_string(size), std::to_string(first));
  return of.items[static_cast<std::size_t>(first)];
}

TILEWRIGHT_INLINE std::int64_t parser::constant_integer(const token& at, const operand& o) const {
  need_value(at, o);
  if (!is_int(o.value)) in_.fail(at, "a literal integer");
  return o.value->integer;
}

TILEWRIGHT_INLINE operand parser::tuple_of(const std::vector<expr>& list) const {
  operand out;
  out.tuple = true;
  for (const expr& e : list) out.items.push_back({e});
  return out;
}

TILEWRIGHT_INLINE operand parser::named() {
  if (at_namespace()) return intrinsic();
  if (in_.accept("True")) return {boolean(true)};
  if (in_.accept("False")) return {boolean(false)};
  const token name = in_.next();
  const entity* known = find(name.text);
  if (!known && in_.at("(")) return python_call(name);
  const entity& meant = known ? *known : lookup(name);
  switch (meant.is) {
    case entity::kind::variable: return {meant.variable};
    case entity::kind::constant: return meant.constant;
    case entity::kind::thread: in_.fail(name, "a thread axis that T.launch_thread has bound");
    case entity::kind::alias: in_.fail(name, "a value");
    case entity::kind::handle: {
      const param& p = function_->params[meant.param];
      return {p.buffer ? data(p.buffer) : p.scalar};
    }
    case entity::kind::tensor: break;
  }
  const buffer b = meant.tensor;
  if (meant.scalar && !in_.at("[") && !in_.at(".")) return {load(b, {integer(dtype::i32, 0)})};
  return tensor_value(name, b);
}

/// min, max, abs, len, int, float and bool as Python has them.
TILEWRIGHT_INLINE operand parser::python_call(const token& name) {
  const level guard(*this);
  if (name.text == "min" || name.text == "max")
    return called_binary(name, name.text == "min" ? op::min : op::max);
  if (name.text == "abs") return known_call(name, "abs");
  in_.expect("(");
  if (name.text == "float" && in_.at(token_kind::string)) {
    operand out = special_float(dtype::f64);
    out.bare = true;
    return out;
  }
  const token at = in_.peek();
  operand value = any();
  in_.expect(")");
  if (name.text == "len") {
    if (!value.tuple) in_.fail(at, "a tuple");
    return {integer(dtype::i32, static_cast<std::int64_t>(value.items.size())), true};
  }
  need_value(at, value);
  const bool number = value.bare || is_int(value.value) || value.value->op == op::real;
  if (name.text == "int" && number && is_int(value.value)) return {value.value, true};
  if (name.text == "int" && number)
    return {integer(dtype::i32, static_cast<std::int64_t>(value.value->real)), true};
  if (name.text == "float" && number) return {retype(at, value, dtype::f64), true};
  in_.fail(name, "a name that is defined here");
}

TILEWRIGHT_INLINE operand parser::tensor_value(const token& name, const buffer& b) {
  if (in_.at(".")) return tensor_attribute(b);
  // A buffer by itself is an argument of calls: a pointer to it.
  if (!in_.at("[")) {
    if (in_.at(",") || in_.at(")")) return {data(b)};
    in_.fail("'['");
  }
  int depth = 1;
  std::vector<expr> at = indices(b, depth);
  return deeper(name, load(b, std::move(at)), depth);
}

/// A.shape, A.dtype, A.data, A.strides, A.elem_offset, A.access_ptr(...), A.vload(...)
TILEWRIGHT_INLINE operand parser::tensor_attribute(const buffer& b) {
  in_.expect(".");
  const token name = in_.expect_name("shape, dtype, data, strides, elem_offset or access_ptr");
  if (name.text == "shape") return tuple_of(b->shape);
  if (name.text == "dtype") return text_operand(type_text(b->type));
  if (name.text == "data") return {data(b)};
  if (name.text == "access_ptr") return access_pointer(name, b);
  if (name.text == "vload") return vector_load(name, b);
  if (name.text == "elem_offset") return {offset_of(b)};
  if (name.text == "scope") {
    in_.expect("("), in_.expect(")");
    return text_operand(b->scope);
  }
  if (name.text != "strides")
    in_.fail(name, "shape, dtype, data, strides, elem_offset, scope, access_ptr or vload");
  return tuple_of(b->strides);
}

/// The offset of a buffer; where only a factor of it is declared, it is a variable of the type of
/// the extents.
TILEWRIGHT_INLINE expr parser::offset_of(const buffer& b) const {
  if (b->elem_offset) return b->elem_offset;
  if (b->offset_factor == 0) return integer(dtype::i32, 0);
  // The node was made by this parser, which alone refers to it so far.
  auto* node = const_cast<buffer_node*>(b.get());
  node->elem_offset =
      make_var(b->name + "_elem_offset", b->shape.empty() ? dtype::i32 : b->shape[0].type());
  return node->elem_offset;
}

/// A.access_ptr("rw", offset=o): T.tvm_access_ptr of the type, the pointer, the offset, the number
/// of elements behind it and a mask of 1 for reading and 2 for writing.
TILEWRIGHT_INLINE operand parser::access_pointer(const token& at, const buffer& b) {
  const call_args args = arguments();
  static constexpr std::array<std::string_view, 5> order{"access_mask", "ptr_type", "content_lanes",
                                                         "offset", "extent"};
  const auto given = [&](std::size_t i) -> const operand* {
    return i < args.list.size() ? &args.list[i] : args.find(order[i]);
  };
  std::int64_t mask = 0;
  const operand* access = given(0);
  if (!access || !access->value) in_.fail(at, "the mask of an access, such as \"r\"");
  if (access->value->op == op::text)
    for (const char c : access->value->name) mask |= c == 'r' ? 1 : c == 'w' ? 2 : 0;
  else
    mask = constant_integer(at, *access);
  const operand* offset = given(3);
  const operand* extent = given(4);
  const expr from = offset_of(b);
  const expr start = offset && offset->value ? from + offset->value : from;
  expr count = integer(dtype::i32, 1);
  for (std::size_t d = 0; d < b->shape.size(); ++d)
    count = d == 0 && !b->strides.empty() ? b->shape[d] * b->strides[d]
            : !b->strides.empty()         ? count
                                          : count * b->shape[d];
  if (offset && offset->value) count = count - offset->value;
  if (extent && extent->value) count = extent->value;
  const expr type = call(b->type, "tir.type_annotation", {});
  return deeper(at,
                call(dtype::handle, "tir.tvm_access_ptr",
                     {type, data(b), start, count, integer(dtype::i32, mask)}),
                8);
}

/// A.vload([i], dtype="float32x4"): a load at a ramp of indices
TILEWRIGHT_INLINE operand parser::vector_load(const token& at, const buffer& b) {
  const call_args args = arguments();
  if (args.list.empty()) in_.fail(at, "the indices of the load");
  const operand& where = args.list[0];
  std::vector<expr> index;
  for (const operand& o : where.tuple ? where.items : std::vector<operand>{where})
    index.push_back(o.value);
  const operand* type = args.list.size() > 1 ? &args.list[1] : args.find("dtype");
  if (index.empty() || index.size() != b->shape.size())
    in_.fail(at, "an index for every dimension");
  if (type && type->value && type->value->op == op::text) {
    const auto wanted = type_from_text(type->value->name);
    if (!wanted) in_.fail(at, "the name of an element type, such as \"float32x4\"");
    index.back() = ramp_from(at, index.back(), *wanted, b);
  }
  return deeper(at, load(b, std::move(index)), where.depth + 2);
}

/// The index with which a value of the type is loaded from or stored to `b`, from `base` on.
TILEWRIGHT_INLINE expr parser::ramp_from(const token& at, const expr& base, dtype value,
                                         const buffer& b) const {
  const int count = lanes(value) / lanes(b->type);
  if (count <= 1 || is_vector(base.type())) return base;
  if (lanes(value) % lanes(b->type) != 0) in_.fail(at, "whole elements of " + b->name);
  return ramp(base, integer(base.type(), 1), count);
}

/// Whether a slice of this length is a vector of which the machine knows the length.
inline bool counts_scalable_lanes(const expr& length) {
  const auto is_scale = [](const expr& e) { return e->op == op::call && e->name == "tir.vscale"; };
  return is_scale(length) ||
         (length->op == op::mul && (is_scale(length->args[0]) || is_scale(length->args[1])));
}

/// One index, or a tuple that stands for several; `a:b` and `a:b:c` with literal extents are ramps.
TILEWRIGHT_INLINE void parser::index(std::vector<expr>& out, int& depth) {
  const token at = in_.peek();
  in_.accept("*");
  operand given = any();
  if (given.tuple) {
    for (const operand& item : given.items) {
      need_value(at, item);
      if (!is_integer(item.value.type())) in_.fail(at, "an integer index");
      depth = std::max(depth, item.depth);
      out.push_back(item.value);
    }
    return;
  }
  need_value(at, given);
  if (!is_integer(given.value.type())) in_.fail(at, "an integer index");
  depth = std::max(depth, given.depth);
  if (!in_.accept(":")) return out.push_back(given.value);
  const expr stop = integer_expr("an integer index after ':'");
  if (is_vector(given.value.type())) in_.fail(at, "a scalar where a slice begins");
  const expr step = in_.accept(":") ? integer_expr("a step") : integer(dtype::i32, 1);
  const expr extent = extent_between(given.value, stop);
  if (is_int(step, 1) && counts_scalable_lanes(extent)) {
    depth += 1;
    const dtype type = lanes_type(at, extent, given.value.type());
    return out.push_back(
        call(type, "tir.Ramp", {given.value, integer(given.value.type(), 1), extent}));
  }
  if (!is_int(extent) || !is_int(step) || step->integer < 1)
    in_.fail(at, "a slice of a literal number of elements");
  const std::int64_t lanes = (extent->integer + step->integer - 1) / step->integer;
  if (lanes < 1 || lanes > most_lanes) in_.fail(at, "a slice of 1 to 65536 elements");
  depth += 1;
  out.push_back(lanes == 1 ? given.value
                           : ramp(given.value, integer(given.value.type(), step->integer),
                                  static_cast<int>(lanes)));
}

TILEWRIGHT_INLINE std::vector<expr> parser::indices(const buffer& b, int& depth) {
  const token open = in_.expect("[");
  std::vector<expr> out;
  do {
    if (in_.at("]")) break;
    index(out, depth);
  } while (in_.accept(","));
  in_.expect("]");
  if (out.size() != b->shape.size())
    throw parse_error(open.at, std::to_string(b->shape.size()) + " indices of " + b->name,
                      std::to_string(out.size()));
  // As in TVM: of vectors of indices the last alone.
  for (std::size_t i = 0; i + 1 < out.size(); ++i)
    if (is_vector(out[i].type())) in_.fail(open, "a scalar for every index but the last");
  if (!out.empty() && std::int64_t{lanes(b->type)} * lanes(out.back().type()) > most_lanes)
    in_.fail(open, "at most 65536 lanes");
  return out;
}

}  // namespace tilewright::ir::detail
