// A trace as text: TVM's printed form, and statements of C++.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include <tilewright/impl/schedule/trace/rv_renaming.hpp>
#include <tilewright/impl/schedule/trace/trace_text.hpp>
#include <tilewright/ir/index_map.hpp>
#include <tilewright/ir/text/literal.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/trace.hpp>

namespace tilewright {
namespace detail {

/// How the two languages write the same things.
struct trace_dialect {
  bool cpp = false;
  const char* list_open() const { return cpp ? "{" : "["; }
  const char* list_close() const { return cpp ? "}" : "]"; }
};

// Appending in place: operator+ of a literal and a temporary makes g++ 12 warn about overlapping
// copies.
inline std::string concat(std::initializer_list<std::string_view> parts) {
  std::string out;
  for (const std::string_view part : parts) out.append(part);
  return out;
}

inline std::string text_of(double value) { return ir::print_real(value); }
inline std::string text_of(std::int64_t value) { return std::to_string(value); }

inline std::string text_of(rv v) { return static_cast<char>(v.kind) + std::to_string(v.number); }

inline int precedence(factor::op o) {
  switch (o) {
    case factor::op::add:
    case factor::op::sub: return 1;
    case factor::op::mul:
    case factor::op::floordiv:
    case factor::op::floormod: return 2;
    case factor::op::inferred:
    case factor::op::literal:
    case factor::op::variable: return 3;
    default: return 0;  // comparisons, which Python would chain
  }
}

inline std::string text_of(const factor& f, trace_dialect d);

inline std::string operand(const factor& f, int needed, trace_dialect d) {
  const std::string text = text_of(f, d);
  const bool negative = f.kind() == factor::op::literal && f.value() < 0;
  return precedence(f.kind()) < needed || negative ? concat({"(", text, ")"}) : text;
}

inline std::string text_of(const factor& f, trace_dialect d) {
  const auto infix = [&](const char* sign) {
    const int level = precedence(f.kind());  // the operators associate to the left
    return concat(
        {operand(f.left(), level == 0 ? 1 : level, d), sign, operand(f.right(), level + 1, d)});
  };
  const auto compare = [&](const char* name, const char* sign) {
    return d.cpp ? concat({name, "(", text_of(f.left(), d), ", ", text_of(f.right(), d), ")"})
                 : infix(sign);
  };
  switch (f.kind()) {
    case factor::op::inferred: return d.cpp ? "infer" : "None";
    case factor::op::literal: return text_of(f.value());
    case factor::op::variable:
      return text_of(rv{rv_class::integer, static_cast<std::uint32_t>(f.value())});
    case factor::op::add: return infix(" + ");
    case factor::op::sub: return infix(" - ");
    case factor::op::mul: return infix(" * ");
    case factor::op::floordiv:
      return d.cpp ? concat({"floordiv(", text_of(f.left(), d), ", ", text_of(f.right(), d), ")"})
                   : infix(" // ");
    case factor::op::floormod:
      return d.cpp ? concat({"floormod(", text_of(f.left(), d), ", ", text_of(f.right(), d), ")"})
                   : infix(" % ");
    case factor::op::eq: return compare("eq", " == ");
    case factor::op::ne: return compare("ne", " != ");
    case factor::op::lt: return compare("lt", " < ");
    case factor::op::le: return compare("le", " <= ");
    case factor::op::gt: return compare("gt", " > ");
    case factor::op::ge: return compare("ge", " >= ");
  }
  return {};
}

template <class List, class Text>
std::string joined(const List& list, const Text& text) {
  std::string out;
  for (const auto& item : list) {
    if (!out.empty()) out += ", ";
    out += text(item);
  }
  return out;
}

template <class List, class Text>
std::string bracketed(const List& list, trace_dialect d, const Text& text) {
  return concat({d.list_open(), joined(list, text), d.list_close()});
}

inline std::string cpp_text(const ir::attr& a) {
  if (const auto* i = std::get_if<std::int64_t>(&a.value)) return text_of(*i);
  if (const auto* r = std::get_if<double>(&a.value)) return text_of(*r);
  if (const auto* s = std::get_if<std::string>(&a.value)) return ir::quote(*s);
  if (const auto* list = std::get_if<ir::attr::list>(&a.value))
    return concat({"ir::attr::list{", joined(*list, cpp_text), "}"});
  const auto entry = [](const auto& e) {
    return concat({"{", ir::quote(e.first), ", ", cpp_text(e.second), "}"});
  };
  return concat({"ir::attr::dict{", joined(std::get<ir::attr::dict>(a.value), entry), "}"});
}

inline std::string text_of(const ir::attr& a, trace_dialect d) {
  return d.cpp ? cpp_text(a) : ir::print_attr(a);
}

inline std::string text_of(const annotation_value& note, trace_dialect d) {
  if (const factor* f = std::get_if<factor>(&note.value)) return text_of(*f, d);
  if (const auto* list = std::get_if<annotation_value::list>(&note.value)) {
    const auto item = [d](const annotation_value& v) { return text_of(v, d); };
    return d.cpp ? concat({"annotation_value::list{", joined(*list, item), "}"})
                 : bracketed(*list, d, item);
  }
  if (const auto* dict = std::get_if<annotation_value::dict>(&note.value)) {
    const auto entry = [d](const auto& e) {
      return d.cpp ? concat({"{", ir::quote(e.first), ", ", text_of(e.second, d), "}"})
                   : concat({ir::quote(e.first), ": ", text_of(e.second, d)});
    };
    return concat({d.cpp ? "annotation_value::dict{" : "{", joined(*dict, entry), "}"});
  }
  return text_of(std::get<ir::attr>(note.value), d);
}

inline std::string text_of(const buffer_selector& b, trace_dialect d) {
  if (b.in == buffer_selector::list::named) return ir::quote(b.name);
  const bool reads = b.in == buffer_selector::list::read;
  if (d.cpp)
    return concat({reads ? "read_buffer(" : "written_buffer(", std::to_string(b.index), ")"});
  return concat({reads ? "(\"read\", " : "(\"write\", ", std::to_string(b.index), ")"});
}

/// The map with the schedule's names for its integers.
inline ir::index_map with_names(const map_argument& m) {
  ir::var_map names;
  for (const auto& [v, number] : m.variables)
    names.emplace(v, ir::make_var(text_of(rv(number)), v.type()));
  const auto renamed = [&](ir::index_map map) {
    for (ir::expr& e : map.outputs) e = ir::substitute(e, names);
    return map;
  };
  ir::index_map out = renamed(m.map);
  if (out.inverse) out.inverse = std::make_shared<const ir::index_map>(renamed(*out.inverse));
  return out;
}

inline std::string text_of(const map_argument& m, trace_dialect d) {
  const std::string text = ir::print(with_names(m));
  if (!d.cpp) return text;
  const auto entry = [](const auto& v) {
    const std::string name = text_of(rv(v.second));
    return concat({"{\"", name, "\", ", name, "}"});
  };
  return concat({"map_argument(", ir::quote(text), ", {", joined(m.variables, entry), "})"});
}

/// `lambda i, j: [(i, i + 1), (0, 8)]`
inline std::string ranges_text(const map_argument& m, trace_dialect d) {
  if (d.cpp) return text_of(m, d);
  ir::index_map map = with_names(m);
  std::vector<ir::expr> results;
  results.swap(map.outputs);
  const std::string head = ir::print(map);  // ends in "()"
  std::string out = head.substr(0, head.size() - 2);
  out += '[';
  for (std::size_t i = 0; i + 1 < results.size(); i += 2) {
    if (i > 0) out += ", ";
    out += concat({"(", ir::print(results[i]), ", ", ir::print(results[i + 1]), ")"});
  }
  out += ']';
  return out;
}

inline std::string text_of(const argument& a, trace_dialect d, bool bare_list) {
  const auto list = [&](const auto& items, const auto& text) {
    return bare_list ? joined(items, text) : bracketed(items, d, text);
  };
  if (const rv* v = std::get_if<rv>(&a)) return text_of(*v);
  if (const auto* l = std::get_if<std::vector<rv>>(&a))
    return list(*l, [](rv v) { return text_of(v); });
  if (const auto* l = std::get_if<std::vector<factor>>(&a))
    return list(*l, [d](const factor& f) { return text_of(f, d); });
  if (const bool* b = std::get_if<bool>(&a))
    return d.cpp ? (*b ? "true" : "false") : (*b ? "True" : "False");
  if (const auto* i = std::get_if<std::int64_t>(&a)) return text_of(*i);
  if (const auto* s = std::get_if<std::string>(&a)) return ir::quote(*s);
  if (const auto* l = std::get_if<std::vector<std::int64_t>>(&a))
    return list(*l, [](std::int64_t v) { return text_of(v); });
  if (const auto* l = std::get_if<std::vector<double>>(&a))
    return list(*l, [](double v) { return text_of(v); });
  if (const auto* note = std::get_if<annotation_value>(&a)) return text_of(*note, d);
  if (const double* r = std::get_if<double>(&a)) return text_of(*r);
  if (const factor* f = std::get_if<factor>(&a)) return text_of(*f, d);
  if (const buffer_selector* b = std::get_if<buffer_selector>(&a)) return text_of(*b, d);
  if (const map_argument* m = std::get_if<map_argument>(&a)) return text_of(*m, d);
  return d.cpp ? "{}" : "None";
}

inline bool is_empty_list(const argument& a) {
  const auto* list = std::get_if<std::vector<rv>>(&a);
  return list && list->empty();
}

inline std::string choice_text(const trace::step& s, trace_dialect d) {
  if (s.what->kind->choice == decision_shape::one) return text_of(s.choice.front());
  const std::string list = bracketed(s.choice, d, [](std::int64_t v) { return text_of(v); });
  return d.cpp ? concat({"std::vector<std::int64_t>", list}) : list;
}

inline std::string call_arguments(const trace::step& s, trace_dialect d) {
  const std::vector<parameter>& parameters = s.what->kind->parameters;
  std::string out;
  const auto add = [&](std::string_view name, const std::string& text) {
    if (text.empty()) return;  // a bare list without entries
    if (!out.empty()) out += ", ";
    if (!d.cpp && !name.empty()) out += std::string(name) + "=";
    out += text;
  };
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const parameter& p = parameters[i];
    const argument& a = s.what->args[i];
    if (p.hidden_when_empty && is_empty_list(a)) continue;
    if (d.cpp && p.name == "func_name") continue;
    add(p.positional ? "" : p.name, p.type == argument_type::index_ranges
                                        ? ranges_text(std::get<map_argument>(a), d)
                                        : text_of(a, d, p.positional && !d.cpp));
  }
  if (!s.choice.empty()) add("decision", choice_text(s, d));
  return out;
}

inline std::string python_statement(const trace::step& s) {
  std::string out = joined(s.what->outputs, [](rv v) { return text_of(v); });
  const bool list_of_one =
      s.what->kind->outputs == output_shape::many && s.what->outputs.size() == 1;
  if (!out.empty()) out += list_of_one ? ", = " : " = ";
  return concat({out, "sch.", s.what->kind->name, "(", call_arguments(s, {false}), ")\n"});
}

inline std::string cpp_statement(const trace::step& s) {
  const instruction& what = *s.what;
  const std::string_view name = what.kind->name == "assert_" ? "require" : what.kind->name;
  const std::string call = concat({"s.", name, "(", call_arguments(s, {true}), ");\n"});
  if (what.outputs.empty()) return call;
  if (what.kind->outputs == output_shape::one && !what.outputs.empty())
    return concat({"auto ", text_of(what.outputs[0]), " = ", call});
  const std::string names = joined(what.outputs, [](rv v) { return text_of(v); });
  if (what.kind->name == "split") return concat({"auto [", names, "] = ", call});
  if (what.kind->name == "get_loops")
    return concat({"auto [", names, "] = s.loops<", std::to_string(what.outputs.size()), ">(",
                   call_arguments(s, {true}), ");\n"});
  const std::string list = concat({"list", std::to_string(what.outputs[0].number)});
  std::string out = concat({"const auto ", list, " = ", call});
  for (std::size_t i = 0; i < what.outputs.size(); ++i)
    out += concat(
        {"const auto ", text_of(what.outputs[i]), " = ", list, "[", std::to_string(i), "];\n"});
  return out;
}

template <class Statement>
std::string print_steps(const std::vector<trace::step>& steps, const Statement& statement) {
  std::string out;
  for (const trace::step& s : canonical_steps(steps)) out += statement(s);
  return out;
}

TILEWRIGHT_INLINE std::string argument_text(const argument& a, const parameter& p) {
  return p.type == argument_type::index_ranges ? ranges_text(std::get<map_argument>(a), {false})
                                               : text_of(a, {false}, false);
}

TILEWRIGHT_INLINE std::string cpp_argument_text(const argument& a) {
  return text_of(a, {true}, false);
}

}  // namespace detail

TILEWRIGHT_INLINE std::string trace::print() const {
  return empty() ? "pass\n" : detail::print_steps(steps_, detail::python_statement);
}

TILEWRIGHT_INLINE std::string trace::print_cpp() const {
  return detail::print_steps(steps_, detail::cpp_statement);
}

}  // namespace tilewright
