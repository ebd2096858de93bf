#pragma once

#include <array>
#include <cmath>

#include <tilewright/impl/ir/intrinsics.hpp>
#include <tilewright/impl/ir/text/opaque.hpp>
#include <tilewright/impl/ir/text/parser.hpp>
#include <tilewright/impl/ir/text/printer.hpp>
#include <tilewright/ir/text/literal.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::ir::detail {

/// Words that cannot name anything in a script.
inline constexpr std::array<std::string_view, 37> reserved_words{
    "False", "None",     "T",     "True",   "and",  "as",    "assert", "async",    "await", "break",
    "class", "continue", "def",   "del",    "elif", "else",  "except", "finally",  "float", "for",
    "from",  "global",   "if",    "import", "in",   "is",    "lambda", "nonlocal", "not",   "or",
    "pass",  "raise",    "range", "return", "try",  "while", "yield"};

TILEWRIGHT_INLINE name_table::name_table() {
  for (std::string_view word : reserved_words) taken_.emplace(word);
}

TILEWRIGHT_INLINE const std::string& name_table::insert(const void* node, std::string_view hint) {
  std::string base;
  for (char c : hint) {
    const bool digit = c >= '0' && c <= '9';
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (digit && base.empty()) base += '_';
    base += digit || letter ? c : '_';
  }
  if (base.empty()) base += 'v';
  std::string name = base;
  for (int suffix = 1; !taken_.insert(name).second; ++suffix) {
    name = base;
    name += '_';
    name += std::to_string(suffix);
  }
  return names_[node] = std::move(name);
}

TILEWRIGHT_INLINE const std::string& name_table::define(const void* node, std::string_view hint) {
  // Two binders of one node are legal in sequence (see ir/verify/verify.hpp); a third party's nested ones
  // should still print.
  const auto found = names_.find(node);
  if (found != names_.end()) return found->second;
  scope_.push_back(node);
  return insert(node, hint);
}

TILEWRIGHT_INLINE const std::string& name_table::use(const void* node, std::string_view hint) {
  const auto found = names_.find(node);
  return found != names_.end() ? found->second : insert(node, hint);
}

TILEWRIGHT_INLINE void name_table::release(std::size_t mark) {
  for (; scope_.size() > mark; scope_.pop_back()) {
    const auto found = names_.find(scope_.back());
    taken_.erase(found->second);
    names_.erase(found);
  }
}

TILEWRIGHT_INLINE void printer::write_list(const std::vector<expr>& list) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i != 0) out_ += ", ";
    write(list[i]);
  }
}

TILEWRIGHT_INLINE void printer::tuple(const std::vector<expr>& list) {
  out_ += '(';
  write_list(list);
  out_ += list.size() == 1 ? ",)" : ")";
}

TILEWRIGHT_INLINE void printer::literal(const expr& e, strength place) {
  const dtype type = e.type();
  if (type == dtype::i32) {
    const bool sign = e->integer < 0 && place > strength::sign;
    if (sign) out_ += '(';
    out_ += std::to_string(e->integer);
    if (sign) out_ += ')';
    return;
  }
  out_ += "T.";
  out_ += name(type);
  out_ += '(';
  if (e->op == op::real) {
    const std::string text =
        type == dtype::f64 || (std::isfinite(e->real) && std::abs(e->real) > 0x1.fffffcp127)
            ? print_real(e->real)  // the largest float is written in full, as it fits no other way
            : print_real(static_cast<float>(e->real));
    out_ += std::isfinite(e->real) ? text : quote(text);
  } else if (type == dtype::boolean) {
    out_ += e->integer != 0 ? "True" : "False";
  } else if (type == dtype::u64) {
    out_ += std::to_string(static_cast<std::uint64_t>(e->integer));
  } else {
    out_ += std::to_string(e->integer);
  }
  out_ += ')';
}

TILEWRIGHT_INLINE void printer::binary(const expr& e, std::string_view symbol, strength own,
                                       strength place) {
  const bool parentheses = own < place;
  // Operators associate to the left; comparisons do not associate, as Python chains them.
  const auto stronger = static_cast<strength>(static_cast<int>(own) + 1);
  if (parentheses) out_ += '(';
  write(e->args[0], own == strength::comparison ? stronger : own);
  out_ += ' ';
  out_ += symbol;
  out_ += ' ';
  write(e->args[1], stronger);
  if (parentheses) out_ += ')';
}

TILEWRIGHT_INLINE void printer::called(std::string_view name, const std::vector<expr>& args) {
  out_ += "T.";
  out_ += name;
  out_ += '(';
  write_list(args);
  out_ += ')';
}

/// T.Shuffle([vectors], [places])
TILEWRIGHT_INLINE void printer::shuffle(const expr& e) {
  out_ += "T.Shuffle([";
  write_list(tuple_items(e->args[0]));
  out_ += "], [";
  write_list(tuple_items(e->args[1]));
  out_ += "])";
}

/// A type in front, unless the parser finds it without.
TILEWRIGHT_INLINE void printer::opaque(const expr& e) {
  if (is_reducer(e)) return reducer(e);
  const bool lists = support::all(
      e->args, [](const expr& a) { return a->op == op::call && a->name == "tir.tvm_tuple"; });
  if (e->name == "tir.Shuffle" && lists && e.type() == shuffled_type(e->args)) return shuffle(e);
  if (e->name == reducer_parameter && reducer_half_) return reducer_name(e);
  const std::string_view bare = std::string_view(e->name).substr(opaque_prefix.size());
  const expr first = e->args.empty() ? expr() : e->args[0];
  const bool text = first && first->op == op::text;
  const bool misread = text && type_from_text(first->name);
  if (!misread && implied_type(bare, e->args) == e.type()) return called(bare, e->args);
  out_ += "T.";
  out_ += bare;
  out_ += "(\"";
  out_ += name(e.type());
  out_ += '"';
  for (const expr& arg : e->args) {
    out_ += ", ";
    write(arg);
  }
  out_ += ')';
}

TILEWRIGHT_INLINE void printer::intrinsic(const expr& e) {
  const bool known = is_script_intrinsic(e->name) && e->args.size() == intrinsic_arity(e->name) &&
                     intrinsic_type(e->name, e->args[0].type()) == e.type();
  if (known || e->name == "tir.Ramp" || e->name == "tir.Broadcast")
    return called(known ? std::string_view(e->name) : std::string_view(e->name).substr(4), e->args);
  if (e->name.substr(0, opaque_prefix.size()) == opaque_prefix) return opaque(e);
  if (e->name == "reinterpret" && e->args.size() == 1) {
    out_ += "T.reinterpret(\"" + std::string(name(e.type())) + "\", ";
    write(e->args[0]);
    out_ += ')';
    return;
  }
  out_ += "T.call_extern(\"";
  out_ += name(e.type());
  out_ += "\", ";
  out_ += quote(e->name);
  for (const expr& arg : e->args) {
    out_ += ", ";
    write(arg);
  }
  out_ += ')';
}

/// T.Let(body, where={x: value}); the parser defines x when it meets it first, in the body.
TILEWRIGHT_INLINE void printer::let(const expr& e) {
  std::string before = std::exchange(out_, {});
  write(e->args[1]);
  const std::string value = std::exchange(out_, {});
  const std::size_t scope = names_.mark();
  const std::string spelling = names_.define(e->args[0].get(), e->args[0]->name);
  write(e->args[2]);
  const std::string body = std::exchange(out_, std::move(before));
  names_.release(scope);
  out_ += "T.Let(" + body + ", where={" + spelling + ": " + value + "})";
}

TILEWRIGHT_INLINE void printer::access(const buffer& b, const std::vector<expr>& indices) {
  out_ += name_of(b);
  out_ += '[';
  if (indices.empty()) out_ += "()";
  write_list(indices);
  out_ += ']';
}

TILEWRIGHT_INLINE void printer::write(const expr& e, strength place) {
  if (!e) {
    out_ += "None";
    return;
  }
  const bool integers = !is_float(e.type());
  switch (e->op) {
    case op::var: out_ += name_of(e); return;
    case op::integer:
    case op::real: return literal(e, place);
    case op::add: return binary(e, "+", strength::sum, place);
    case op::sub: return binary(e, "-", strength::sum, place);
    case op::mul: return binary(e, "*", strength::product, place);
    case op::div:
      return integers ? called("Div", e->args) : binary(e, "/", strength::product, place);
    case op::mod: return called("truncmod", e->args);
    case op::floordiv: return binary(e, "//", strength::product, place);
    case op::floormod: return binary(e, "%", strength::product, place);
    case op::min: return called("min", e->args);
    case op::max: return called("max", e->args);
    case op::eq: return binary(e, "==", strength::comparison, place);
    case op::ne: return binary(e, "!=", strength::comparison, place);
    case op::lt: return binary(e, "<", strength::comparison, place);
    case op::le: return binary(e, "<=", strength::comparison, place);
    case op::gt: return binary(e, ">", strength::comparison, place);
    case op::ge: return binary(e, ">=", strength::comparison, place);
    case op::logical_and: return binary(e, "and", strength::conjunction, place);
    case op::logical_or: return binary(e, "or", strength::disjunction, place);
    case op::logical_not: {
      const bool parentheses = strength::negation < place;
      if (parentheses) out_ += '(';
      out_ += "not ";
      write(e->args[0], strength::negation);
      if (parentheses) out_ += ')';
      return;
    }
    case op::select: return called("Select", e->args);
    case op::if_then_else: return called("if_then_else", e->args);
    case op::cast:
      out_ += "T.Cast(\"";
      out_ += name(e.type());
      out_ += "\", ";
      write(e->args[0]);
      out_ += ')';
      return;
    case op::load: return access(e->buffer, e->args);
    case op::call: return intrinsic(e);
    case op::text: out_ += quote(e->name); return;
    case op::data: out_ += name_of(e->buffer) + ".data"; return;
    case op::let: return let(e);
  }
}

TILEWRIGHT_INLINE expr stop_of(const range& r) {
  // `x - 1` plus 3 reads better as `x + 2`; extent_between recovers a literal extent from any form.
  const bool offset = (r.min->op == op::add || r.min->op == op::sub) && is_int(r.min->args[1]);
  if (!offset || !is_int(r.extent) || r.min.type() != r.extent.type()) return r.min + r.extent;
  const expr& shift = r.min->args[1];
  const expr total = r.min->op == op::add ? r.extent + shift : r.extent - shift;
  return total->integer < 0 ? r.min->args[0] - (-total) : r.min->args[0] + total;
}

TILEWRIGHT_INLINE void printer::bounds(const range& r) {
  write(r.min);
  if (is_int(r.extent, 1)) return;
  out_ += ':';
  write(stop_of(r));
}

TILEWRIGHT_INLINE void printer::write(const buffer_region& r) {
  out_ += name_of(r.buffer);
  out_ += '[';
  if (r.box.empty()) out_ += "()";
  for (std::size_t i = 0; i < r.box.size(); ++i) {
    if (i != 0) out_ += ", ";
    bounds(r.box[i]);
  }
  out_ += ']';
}

TILEWRIGHT_INLINE void printer::write_layout(const buffer& b) {
  tuple(b->shape);
  out_ += ", \"";
  out_ += name(b->type);
  out_ += '"';
  if (!b->strides.empty()) {
    out_ += ", strides=";
    tuple(b->strides);
  }
  if (b->elem_offset) {
    out_ += ", elem_offset=";
    write(b->elem_offset);
  }
  if (b->scope != "global") {
    out_ += ", scope=";
    out_ += quote(b->scope);
  }
  if (b->alignment != 64) {
    out_ += ", align=";
    out_ += std::to_string(b->alignment);
  }
  if (b->offset_factor != 0) {
    out_ += ", offset_factor=";
    out_ += std::to_string(b->offset_factor);
  }
  if (b->broadcasts) out_ += ", buffer_type=\"auto\"";
  if (!b->axis_separators.empty()) {
    out_ += ", axis_separators=[";
    for (std::size_t i = 0; i < b->axis_separators.size(); ++i)
      out_ += (i == 0 ? "" : ", ") + std::to_string(b->axis_separators[i]);
    out_ += ']';
  }
  if (b->data) {
    out_ += ", data=";
    write(b->data);
  }
}

}  // namespace tilewright::ir::detail
