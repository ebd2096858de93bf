#pragma once

#include <algorithm>
#include <utility>

#include <tilewright/impl/schedule/trace/trace_text.hpp>
#include <tilewright/impl/space/expression/argument_value.hpp>
#include <tilewright/ir/text/literal.hpp>
#include <tilewright/space/expression_text.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::space::detail {

inline std::string text_of(const operand& o) {
  const std::string name(o.view());
  const auto item = [&] {
    return o.number == operand::all ? name : name + "[" + std::to_string(o.number) + "]";
  };
  switch (o.is) {
    case operand::role::level:
    case operand::role::variable: return item();
    case operand::role::text: return ir::quote(name);
    case operand::role::number: return std::to_string(o.number);
    case operand::role::inferred: return "infer";
    case operand::role::here: return "here";
  }
  return name;
}

inline std::string text_of(const argument_value& a);

inline std::string text_of(const arithmetic& a) {
  const std::string left = text_of((*a.left).value), right = text_of((*a.right).value);
  const auto infix = [&](const char* sign) { return "(" + left + sign + right + ")"; };
  const auto call = [&](const char* name) { return name + ("(" + left + ", " + right + ")"); };
  switch (a.op) {
    case factor::op::add: return infix(" + ");
    case factor::op::sub: return infix(" - ");
    case factor::op::mul: return infix(" * ");
    case factor::op::floordiv: return call("floordiv");
    case factor::op::floormod: return call("floormod");
    case factor::op::eq: return call("eq");
    case factor::op::ne: return call("ne");
    case factor::op::lt: return infix(" < ");
    case factor::op::le: return infix(" <= ");
    case factor::op::gt: return infix(" > ");
    case factor::op::ge: return infix(" >= ");
    default: return left;
  }
}

inline std::string text_of(const argument_value& a) {
  if (const auto* o = std::get_if<operand>(&a)) return text_of(*o);
  if (const auto* tree = std::get_if<std::shared_ptr<const arithmetic>>(&a)) return text_of(**tree);
  if (const auto* decided = std::get_if<given_decision>(&a)) {
    const std::string list = list_text(decided->value);
    return "with_decision(" + list.substr(1, list.size() - 2) + ")";
  }
  const argument& given = std::get<argument>(a);
  if (const auto* weights = std::get_if<std::vector<double>>(&given)) return list_text(*weights);
  return tilewright::detail::cpp_argument_text(given);
}

template <class List>
std::string joined(const List& list, std::string_view between) {
  std::string out;
  for (const std::string& each : list) {
    if (!out.empty()) out += between;
    out += each;
  }
  return out;
}

TILEWRIGHT_INLINE expression_text::expression_text() : groups_(1) {}

TILEWRIGHT_INLINE void expression_text::step(std::string_view primitive, operand_refs operands,
                                             const std::vector<step_argument>& more) {
  std::vector<std::string> inside, behind;
  for (std::size_t n = 0; n < operands.size; ++n) inside.push_back(text_of(operands[n]));
  for (const step_argument& a : more) behind.push_back(text_of((*a).value));
  std::string out(primitive);
  out += "<" + joined(inside, ", ") + ">";
  if (!behind.empty()) out += "(" + joined(behind, ", ") + ")";
  item(std::move(out));
}

TILEWRIGHT_INLINE void expression_text::let(operand_refs names) {
  std::vector<std::string> list;
  for (std::size_t n = 0; n < names.size; ++n) list.push_back(text_of(names[n]));
  let_ = "let<" + joined(list, ", ") + "> = ";
}

TILEWRIGHT_INLINE void expression_text::item(std::string text) {
  const bool named = !let_.empty();
  add({std::exchange(let_, {}) + text, named, false});
}

TILEWRIGHT_INLINE void expression_text::add(part p) { groups_.back().push_back(std::move(p)); }

TILEWRIGHT_INLINE void expression_text::open() { groups_.emplace_back(); }

TILEWRIGHT_INLINE void expression_text::close(std::string_view before, std::string_view after) {
  part whole = sequence(groups_.back());
  groups_.pop_back();
  if (!before.empty())
    whole = {std::string(before) + whole.text + std::string(after), false, false};
  add(std::move(whole));
}

TILEWRIGHT_INLINE void expression_text::choice(std::size_t count) {
  std::vector<part>& here = groups_.back();
  std::vector<std::string> options;
  const auto first = here.end() - static_cast<std::ptrdiff_t>(count);
  for (auto p = first; p != here.end(); ++p)
    options.push_back(p->chooses ? "(" + p->text + ")" : p->text);
  here.erase(first, here.end());
  add({joined(options, " | "), false, true});
}

/// Steps with names, and many of them, are listed; few others are written with `>>`.
TILEWRIGHT_INLINE expression_text::part expression_text::sequence(const std::vector<part>& parts) {
  constexpr std::size_t widest = 90;
  if (parts.size() == 1 && !parts[0].names) return parts[0];
  std::size_t width = 0;
  for (const part& p : parts) width += p.text.size() + 4;
  const bool list = support::any(parts, [](const part& p) { return p.names; }) || width > widest;
  std::vector<std::string> texts;
  for (const part& p : parts) texts.push_back(!list && p.chooses ? "(" + p.text + ")" : p.text);
  if (!list) return {joined(texts, " >> "), false, false};
  if (width <= widest) return {"steps(" + joined(texts, ", ") + ")", false, false};
  std::string out = "steps(";
  for (std::size_t n = 0; n < texts.size(); ++n) {
    out += n == 0 ? "\n  " : ",\n  ";
    for (const char c : texts[n]) out += c == '\n' ? std::string("\n  ") : std::string(1, c);
  }
  return {out + ")", false, false};
}

TILEWRIGHT_INLINE std::string expression_text::text() const { return sequence(groups_[0]).text; }

TILEWRIGHT_INLINE std::string callable_text(std::string_view type, bool has_members) {
  if (type.find("lambda") != type.npos) return "/* a lambda */";
  if (type.find("(*") != type.npos) return "/* a function */";
  for (const std::string_view home : {"tilewright::space::", "tilewright::"})
    if (type.starts_with(home)) type.remove_prefix(home.size());
  return std::string(type) + (has_members ? "{/* its members */}" : "{}");
}

TILEWRIGHT_INLINE std::string real_text(double value) {
  std::string out = ir::print_real(value);
  if (out.ends_with(".0")) out.resize(out.size() - 2);
  return out;
}

TILEWRIGHT_INLINE std::string list_text(const std::vector<std::int64_t>& list) {
  std::vector<std::string> texts;
  for (const std::int64_t v : list) texts.push_back(std::to_string(v));
  return "{" + joined(texts, ", ") + "}";
}
TILEWRIGHT_INLINE std::string list_text(const std::vector<double>& list) {
  std::vector<std::string> texts;
  for (const double v : list) texts.push_back(real_text(v));
  return "{" + joined(texts, ", ") + "}";
}

}  // namespace tilewright::space::detail
