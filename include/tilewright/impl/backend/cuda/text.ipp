#pragma once

#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/backend/cuda/tensor/tensor_calls.hpp>
#include <tilewright/impl/backend/cuda/text.hpp>
#include <tilewright/impl/pass/gpu/groups/group_product.hpp>
#include <tilewright/impl/pass/gpu/pieces.hpp>
#include <tilewright/ir/storage_scope.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/numbers/number_text.hpp>

namespace tilewright::backend::cuda::detail {

TILEWRIGHT_INLINE std::string stored_type(dtype t) {
  switch (t) {
    case dtype::boolean: return "bool";
    case dtype::i8: return "signed char";
    case dtype::i16: return "short";
    case dtype::i32: return "int";
    case dtype::i64: return "long long";
    case dtype::u8: return "unsigned char";
    case dtype::u16: return "unsigned short";
    case dtype::u32: return "unsigned int";
    case dtype::u64: return "unsigned long long";
    case dtype::f16: return "tw_f16";
    case dtype::bf16: return "tw_bf16";
    case dtype::f32: return "float";
    case dtype::f64: return "double";
    default:
      throw argument_error("elements of type " + std::string(tilewright::name(t)) +
                           " are not known to the CUDA back end; cast them to another type");
  }
}

TILEWRIGHT_INLINE std::string held_type(dtype t) {
  return t == dtype::f16 || t == dtype::bf16 ? "float" : stored_type(t);
}

namespace text_parts {

using ir::op;

/// How tightly operators bind, as in C++; 0 is a whole expression.
enum precedence : int { whole = 0, choice, either, both, equal, order, sum, product, unary };

inline bool is_narrow(dtype t) { return t == dtype::f16 || t == dtype::bf16; }

struct infix {
  const char* text;
  int level;
};

inline infix infix_of(op o) {
  switch (o) {
    case op::add: return {" + ", sum};
    case op::sub: return {" - ", sum};
    case op::mul: return {" * ", product};
    case op::eq: return {" == ", equal};
    case op::ne: return {" != ", equal};
    case op::lt: return {" < ", order};
    case op::le: return {" <= ", order};
    case op::gt: return {" > ", order};
    case op::ge: return {" >= ", order};
    case op::logical_and: return {" && ", both};
    case op::logical_or: return {" || ", either};
    default: return {nullptr, whole};
  }
}

inline std::string in_parentheses(std::string text, int level, int around) {
  return level < around ? "(" + std::move(text) + ")" : text;
}

/// Functions of the prelude, "tw_" in front, by the names that the IR has for them.
inline constexpr std::array<std::string_view, 40> functions{
    "exp",  "exp2",  "exp10",     "expm1", "log",      "log2",      "log10", "log1p",
    "sqrt", "rsqrt", "tanh",      "erf",   "sigmoid",  "abs",       "fabs",  "floor",
    "ceil", "round", "nearbyint", "trunc", "sin",      "cos",       "tan",   "asin",
    "acos", "atan",  "sinh",      "cosh",  "asinh",    "acosh",     "atanh", "cbrt",
    "pow",  "atan2", "fmod",      "hypot", "copysign", "nextafter", "fma",   "isnan"};
inline constexpr std::array<std::string_view, 2> predicates{"isinf", "isfinite"};
inline constexpr std::array<std::string_view, 9> integer_functions{
    "abs",        "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not",
    "shift_left", "shift_right", "popcount",   "pow"};

/// Whether a value depends on data, and not on the places of threads and loops alone.
inline bool is_data(const ir::expr& e) {
  if (!e->reads_memory) return false;
  if (e->op == ir::op::load || (e->op == ir::op::call && e->name != "bitwise_xor")) return true;
  for (const ir::expr& a : e->args)
    if (is_data(a)) return true;
  return false;
}

template <class List>
bool lists(const List& all, std::string_view name) {
  for (const std::string_view n : all)
    if (n == name) return true;
  return false;
}

}  // namespace text_parts

TILEWRIGHT_INLINE const std::string& expression_text::name(const ir::expr& v) const {
  const auto found = variables.find(v.get());
  if (found == variables.end())
    throw argument_error("variable \"" + v->name +
                         "\" is used but has no value in the lowered function; bind it with a "
                         "loop, a let or a scalar parameter");
  return found->second;
}

TILEWRIGHT_INLINE const std::string& expression_text::name(const ir::buffer& b) const {
  const auto found = buffers.find(b.get());
  if (found == buffers.end())
    throw internal_error("the CUDA back end met a buffer that nothing allocates: " + b->name);
  return found->second;
}

TILEWRIGHT_INLINE std::string expression_text::fresh(std::string_view wanted) {
  std::string base;
  for (const char c : wanted) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    base += plain ? c : '_';
  }
  // words of C++ and names of the prelude all begin differently
  static constexpr std::array<std::string_view, 22> words{
      "int",   "long",  "short",  "char", "float", "double", "bool", "if",
      "else",  "for",   "while",  "auto", "const", "void",   "do",   "true",
      "false", "union", "struct", "this", "main",  "signed"};
  const bool starts_badly = base.empty() || (base[0] >= '0' && base[0] <= '9') || base[0] == '_';
  if (starts_badly || base.rfind("tw_", 0) == 0 || base.rfind("TW_", 0) == 0 ||
      text_parts::lists(words, base))
    base = "v_" + base;
  for (;;) {
    const int count = used_[base]++;
    if (count == 0) return base;
    const std::string numbered = base + "_" + std::to_string(count);
    if (used_.emplace(numbered, 1).second) return numbered;
  }
}

TILEWRIGHT_INLINE ir::expr expression_text::position(const ir::buffer& b,
                                                     const std::vector<ir::expr>& indices) const {
  const std::int64_t size = pass::constant_size(b);
  const dtype type =
      size >= 0 && size <= std::numeric_limits<std::int32_t>::max() ? dtype::i32 : dtype::i64;
  const auto wide = [&](const ir::expr& e) {
    return e.type() == type || ir::is_int(e) || type == dtype::i32 ? e : ir::cast(type, e);
  };
  // the pointers of shared memory have their offset in them
  const bool counted = b->elem_offset && ir::storage_rank(b->scope) == 0;
  ir::expr out = counted ? wide(b->elem_offset) : ir::integer(type, 0);
  for (std::size_t d = 0; d < indices.size(); ++d) {
    if (!b->strides.empty()) {
      out = out + wide(indices[d]) * wide(b->strides[d]);
    } else {
      if (d > 0) out = out * wide(b->shape[d]);
      out = out + wide(indices[d]);
    }
  }
  return known.simplify(out);
}

TILEWRIGHT_INLINE std::string expression_text::literal(const ir::expr& e) const {
  if (e->op == ir::op::integer) {
    if (e.type() == dtype::boolean) return e->integer ? "true" : "false";
    if (is_unsigned(e.type())) {
      return std::to_string(static_cast<unsigned long long>(e->integer)) +
             (bits(e.type()) > 32 ? "ull" : "u");
    }
    if (e->integer == std::numeric_limits<std::int64_t>::min())
      return "(-9223372036854775807ll - 1)";
    if (e.type() == dtype::i32 && e->integer == std::numeric_limits<std::int32_t>::min())
      return "(-2147483647 - 1)";
    const std::string text = std::to_string(e->integer) + (e.type() == dtype::i64 ? "ll" : "");
    return e->integer < 0 ? "(" + text + ")" : text;
  }
  const std::string type = held_type(e.type());
  if (std::isnan(e->real)) return "tw_special<" + type + ">::nan()";
  if (std::isinf(e->real))
    return (e->real < 0 ? "(-tw_special<" : "(+tw_special<") + type + ">::infinity())";
  const bool wide = type == "double";
  std::string out = support::general_text(e->real, wide ? 17 : 9);
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  if (!wide) out += "f";
  return std::signbit(e->real) ? "(" + out + ")" : out;
}

/// An element as it lies in memory.
TILEWRIGHT_INLINE std::string expression_text::element(const ir::expr& e) const {
  if (lanes) {
    const auto found = lanes->loaded.find(e.get());
    if (found != lanes->loaded.end()) return found->second + "[" + name(lanes->lane) + "]";
  }
  return name(e->buffer) + "[" + print(position(e->buffer, e->args)) + "]";
}

TILEWRIGHT_INLINE std::string expression_text::load(const ir::expr& e) const {
  return text_parts::is_narrow(e.type()) ? "tw_float(" + element(e) + ")" : element(e);
}

TILEWRIGHT_INLINE std::string expression_text::stored(const ir::expr& value, dtype type) const {
  if (!text_parts::is_narrow(type)) return print(value);
  // what is copied is not computed with
  if (value->op == ir::op::load && value.type() == type) return element(value);
  if (value->op == ir::op::cast && value.type() == type && value->args[0].type() != type)
    return narrowed(value);
  return stored_type(type) + "(" + print(value) + ")";
}

/// Integers wrap: indices do not overflow and are computed as they stand, data is computed modulo 2^n.
TILEWRIGHT_INLINE std::string expression_text::binary(const ir::expr& e, int around) const {
  namespace p = text_parts;
  const dtype type = e->args[0].type();
  const p::infix form = p::infix_of(e->op);
  const bool arithmetic = form.level == p::sum || form.level == p::product;
  if (e->op == ir::op::min || e->op == ir::op::max ||
      (arithmetic && !is_float(type) && (p::is_data(e) || bits(type) < 32))) {
    const char* const function = e->op == ir::op::min   ? "tw_min"
                                 : e->op == ir::op::max ? "tw_max"
                                 : e->op == ir::op::add ? "tw_add"
                                 : e->op == ir::op::sub ? "tw_sub"
                                                        : "tw_mul";
    return std::string(function) + "<" + held_type(type) + ">(" + print(e->args[0]) + ", " +
           print(e->args[1]) + ")";
  }
  const bool commutes = e->op == ir::op::logical_and || e->op == ir::op::logical_or;
  return p::in_parentheses(print(e->args[0], form.level) + form.text +
                               print(e->args[1], form.level + (commutes ? 0 : 1)),
                           form.level, around);
}

TILEWRIGHT_INLINE std::string expression_text::division(const ir::expr& e, int around) const {
  namespace p = text_parts;
  const bool quotient = e->op == ir::op::div || e->op == ir::op::floordiv;
  const dtype type = e.type();
  if (is_float(type)) {
    if (e->op == ir::op::div)
      return p::in_parentheses(print(e->args[0], p::product) + " / " + print(e->args[1], p::unary),
                               p::product, around);
    const char* const function = e->op == ir::op::floordiv   ? "tw_floordiv"
                                 : e->op == ir::op::floormod ? "tw_floormod"
                                                             : "tw_fmod";
    return std::string(function) + "(" + print(e->args[0]) + ", " + print(e->args[1]) + ")";
  }
  const bool positive = ir::is_int(e->args[1]) && e->args[1]->integer > 0;
  const bool floors = e->op == ir::op::floordiv || e->op == ir::op::floormod;
  if (positive && (!floors || is_unsigned(type) || known.const_bounds(e->args[0]).lo >= 0) &&
      bits(type) >= 32)
    return p::in_parentheses(
        print(e->args[0], p::product) + (quotient ? " / " : " % ") + print(e->args[1], p::unary),
        p::product, around);
  const std::string function =
      std::string(floors ? "tw_floor" : "tw_") + (quotient ? "div" : "mod");
  return function + "<" + held_type(type) + ">(" + print(e->args[0]) + ", " + print(e->args[1]) +
         ")";
}

/// A cast to a type of 16 bits, as it lies in memory.
TILEWRIGHT_INLINE std::string expression_text::narrowed(const ir::expr& e) const {
  const std::string value = print(e->args[0]);
  const bool wide = e->args[0].type() == dtype::f64;
  return stored_type(e.type()) + "(" + (wide ? value : "float(" + value + ")") + ")";
}

TILEWRIGHT_INLINE std::string expression_text::cast(const ir::expr& e, int around) const {
  namespace p = text_parts;
  const dtype to = e.type(), from = e->args[0].type();
  const std::string value = print(e->args[0]);
  if (to == from) return print(e->args[0], around);
  if (p::is_narrow(to)) return "tw_float(" + narrowed(e) + ")";
  if (to == dtype::boolean) return "(" + value + " != 0)";
  if (is_float(from) && !is_float(to)) return "tw_saturate<" + held_type(to) + ">(" + value + ")";
  return "static_cast<" + held_type(to) + ">(" + value + ")";
}

/// Operands as pointers and the place of their first element.
TILEWRIGHT_INLINE std::string expression_text::call_on_pieces(const ir::expr& e) const {
  const bool copies = pass::detail::is_piece_copy(e);
  const bool numbered = pass::detail::groups::is_numbered_call(e);
  std::string out, numbers;
  for (const ir::expr& piece : e->args) {
    if (piece->op != ir::op::load) {  // of a copy: its condition, and how many elements
      if (numbered) numbers += (numbers.empty() ? "<" : ", ") + print(piece);
      continue;
    }
    const ir::expr at = position(piece->buffer, piece->args);
    if (ir::storage_rank(piece->buffer->scope) == 1 && !copies) check_row(piece, at);
    out += (out.empty() ? "(" : ", ") + name(piece->buffer) + ", " + print(at);
  }
  if (numbered) return e->name + numbers + ">" + (out.empty() ? "(" : out) + ")";
  if (pass::detail::has_condition(e)) out += ", " + print(e->args[2]);
  return e->name + (copies ? "<" + print(e->args.back()) + ">" : "") + out + ")";
}

/// Memory as pointers and places; of a tensor its map, and where the box begins, the innermost place first.
TILEWRIGHT_INLINE std::string expression_text::call_on_tensors(const ir::expr& e) const {
  std::string out;
  const auto append = [&](const std::string& text) { out += (out.empty() ? "" : ", ") + text; };
  const ir::expr tensor = copied_tensor(e);
  if (is_box_store(e)) append(map_of(maps, e).name);
  for (const ir::expr& a : e->args) {
    if (a->op != ir::op::load) {
      if (!tensor) append(print(a));
    } else if (!a.same(tensor)) {
      append(name(a->buffer));
      append(print(position(a->buffer, a->args)));
      if (tensor && a.same(e->args[0]) && !is_box_store(e)) append(map_of(maps, e).name);
    }
  }
  if (tensor)
    for (std::size_t d = tensor->args.size(); d-- > 0;)
      append(print(ir::cast(dtype::i32, known.simplify(tensor->args[d]))));
  return e->name + "(" + out + ")";
}

/// A row of a matrix in shared memory begins at a multiple of its 16 bytes.
TILEWRIGHT_INLINE void expression_text::check_row(const ir::expr& first, const ir::expr& at) const {
  const std::int64_t width = 16 / bytes(first->type);
  const arith::linear sum = arith::to_linear(at);
  bool whole = sum.constant % width == 0;
  for (const auto& [term, factor] : sum.terms) whole = whole && factor % width == 0;
  if (!whole)
    throw build_error("rows of " + first->buffer->name +
                      " do not begin at multiples of 16 bytes, as matrices that a warp loads must; "
                      "storage_align the buffer by a multiple of " +
                      std::to_string(width) + " elements");
}

TILEWRIGHT_INLINE std::string expression_text::call(const ir::expr& e) const {
  namespace p = text_parts;
  if (pass::detail::is_call_on_pieces(e) || pass::detail::groups::is_numbered_call(e))
    return call_on_pieces(e);
  if (e->name == "tw_commit_copies" || pass::detail::groups::is_plain_call(e))
    return e->name + "()";
  if (is_tensor_call(e)) return call_on_tensors(e);
  std::string arguments;
  for (const ir::expr& a : e->args) arguments += (arguments.empty() ? "" : ", ") + print(a);
  if (e->name == "likely" && e->args.size() == 1) return print(e->args[0], p::unary);
  if (e->name == "tw_shuffle_xor" || e->name == "tw_greater")
    return e->name + "(" + arguments + ")";
  const dtype operand = e->args.empty() ? dtype::handle : e->args[0].type();
  const bool known_name = is_float(operand)
                              ? p::lists(p::functions, e->name) || p::lists(p::predicates, e->name)
                              : p::lists(p::integer_functions, e->name) && operand != dtype::handle;
  if (known_name && is_float(operand)) return "tw_" + e->name + "(" + arguments + ")";
  if (known_name) return "tw_" + e->name + "<" + held_type(operand) + ">(" + arguments + ")";
  if (e->name == "reinterpret" && e->args.size() == 1 && bits(operand) == bits(e.type()) &&
      !p::is_narrow(operand) && !p::is_narrow(e.type()))
    return "tw_reinterpret<" + held_type(e.type()) + ">(" + arguments + ")";
  throw argument_error("intrinsic \"" + e->name + "\" of " + std::to_string(e->args.size()) +
                       " arguments of " + std::string(tilewright::name(operand)) +
                       " is not known to the CUDA back end");
}

TILEWRIGHT_INLINE std::string expression_text::print(const ir::expr& e, int around) const {
  namespace p = text_parts;
  switch (e->op) {
    case ir::op::var: return name(e);
    case ir::op::integer:
    case ir::op::real: return literal(e);
    case ir::op::load: return load(e);
    case ir::op::call: return call(e);
    case ir::op::cast: return cast(e, around);
    case ir::op::logical_not: return "!" + print(e->args[0], p::unary);
    case ir::op::select:
    case ir::op::if_then_else:
      return p::in_parentheses(print(e->args[0], p::either) + " ? " + print(e->args[1], p::either) +
                                   " : " + print(e->args[2], p::either),
                               p::choice, around);
    case ir::op::div:
    case ir::op::mod:
    case ir::op::floordiv:
    case ir::op::floormod: return division(e, around);
    case ir::op::text:
    case ir::op::data:
    case ir::op::let:
      throw argument_error(
          "the CUDA back end met an operator that it does not know; lower it first");
    default: return binary(e, around);
  }
}

}  // namespace tilewright::backend::cuda::detail
