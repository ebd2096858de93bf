// Traces in TVM's JSON form, which its databases hold: [instructions, decisions].
//
// Reading goes through the printed form: every input is a piece of it already.
#pragma once

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>

#include <tilewright/impl/schedule/trace/nearest_kind.hpp>
#include <tilewright/impl/schedule/trace/rv_renaming.hpp>
#include <tilewright/impl/schedule/trace/trace_text.hpp>
#include <tilewright/ir/text/literal.hpp>
#include <tilewright/schedule/trace.hpp>

namespace tilewright {
namespace detail::json {

/// Names that do not follow from ours by joining capitalized words; the first of several is
/// written.
inline constexpr std::array<std::pair<std::string_view, std::string_view>, 6> special_names{
    {{"get_block", "GetSBlock"},
     {"get_block", "GetBlock"},
     {"reindex", "ReIndex"},
     {"rfactor", "RFactor"},
     {"unsafe_set_dtype", "UnsafeSetDType"},
     {"assert_", "Assert"}}};

inline std::string name_of(std::string_view kind) {
  for (const auto& [ours, theirs] : special_names)
    if (ours == kind) return std::string(theirs);
  std::string out;
  bool start = true;
  for (const char c : kind) {
    if (c != '_') out += start && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    start = c == '_';
  }
  return out;
}

inline const instruction_kind* kind_of(std::string_view name) {
  for (const auto& [ours, theirs] : special_names)
    if (theirs == name) return find_instruction_kind(ours);
  for (const instruction_kind& kind : instruction_kinds())
    if (name_of(kind.name) == name) return &kind;
  return nullptr;
}

/// Inputs may be random variables; all else is an attribute.
inline bool is_input(const parameter& p) {
  switch (p.type) {
    case argument_type::boolean:
    case argument_type::integer:
    case argument_type::string:
    case argument_type::integers:
    case argument_type::reals:
    case argument_type::buffer:
    case argument_type::padding: return false;
    default: return true;
  }
}

/// A list that is written as so many inputs.
inline bool is_flat(const parameter& p) {
  return p.type == argument_type::factors || (p.type == argument_type::loops && p.positional);
}

inline std::string list_of(const std::vector<std::string>& items) {
  std::string out = "[";
  for (const std::string& item : items) {
    if (out.size() > 1) out += ", ";
    out += item;
  }
  return out + "]";
}

inline std::string quoted(const argument& a, const parameter& p) {
  return ir::quote(argument_text(a, p));
}

inline void write_input(const argument& a, const parameter& p, std::vector<std::string>& out) {
  std::vector<std::string> items;
  if (const auto* list = std::get_if<std::vector<rv>>(&a))
    for (const rv& v : *list) items.push_back(quoted(v, p));
  else if (const auto* factors = std::get_if<std::vector<factor>>(&a))
    for (const factor& f : *factors) items.push_back(quoted(f, p));
  else
    return out.push_back(quoted(a, p));
  if (is_flat(p))
    out.insert(out.end(), items.begin(), items.end());
  else
    out.push_back(list_of(items));
}

inline std::string attribute(const argument& a, const parameter& p) {
  if (const bool* b = std::get_if<bool>(&a)) return *b ? "1" : "0";
  const bool text = p.type == argument_type::buffer || p.type == argument_type::padding;
  return text ? quoted(a, p) : argument_text(a, p);
}

inline std::string instruction_text(const instruction& what) {
  std::vector<std::string> inputs, attributes, outputs;
  for (std::size_t i = 0; i < what.args.size(); ++i) {
    const parameter& p = what.kind->parameters[i];
    if (is_input(p))
      write_input(what.args[i], p, inputs);
    else
      attributes.push_back(attribute(what.args[i], p));
  }
  for (const rv& v : what.outputs) outputs.push_back(quoted(v, {}));
  return list_of({ir::quote(name_of(what.kind->name)), list_of(inputs), list_of(attributes),
                  list_of(outputs)});
}

[[noreturn]] inline void fail(const std::string& what) {
  throw argument_error("trace in JSON: " + what);
}

inline const ir::attr::list& list(const ir::attr& a, const char* what) {
  const auto* out = std::get_if<ir::attr::list>(&a.value);
  if (!out) fail(std::string(what) + " must be a list");
  return *out;
}

inline const std::string& string(const ir::attr& a, const char* what) {
  const auto* out = std::get_if<std::string>(&a.value);
  if (!out) fail(std::string(what) + " must be a string");
  return *out;
}

/// An input as the printed form has it. Nothing but a piece of one line can come of it.
inline std::string input_text(const ir::attr& a) {
  if (const auto* items = std::get_if<ir::attr::list>(&a.value)) {
    std::vector<std::string> parts;
    for (const ir::attr& item : *items) parts.push_back(input_text(item));
    return list_of(parts);
  }
  if (const auto* entries = std::get_if<ir::attr::dict>(&a.value)) {
    std::string out = "{";
    for (const auto& [key, value] : *entries)
      out += (out.size() > 1 ? ", " : "") + ir::quote(key) + ": " + input_text(value);
    return out + "}";
  }
  const auto* text = std::get_if<std::string>(&a.value);
  if (!text) return ir::print_attr(a);
  if (text->find('\n') != text->npos) fail("an input holds a line break");
  return *text;
}

inline std::string attribute_text(const ir::attr& a, const parameter& p) {
  const bool text = p.type == argument_type::buffer || p.type == argument_type::padding;
  return text ? input_text(a) : ir::print_attr(a);
}

inline void read_arguments(const instruction_kind& kind, const ir::attr::list& inputs,
                           const ir::attr::list& attributes, std::vector<std::string>& out) {
  std::size_t input = 0, attribute = 0;
  for (const parameter& p : kind.parameters) {
    const std::string name = p.positional ? "" : std::string(p.name) + "=";
    if (!is_input(p)) {
      if (attribute >= attributes.size()) fail(std::string(kind.name) + " has too few attributes");
      out.push_back(name + attribute_text(attributes[attribute++], p));
    } else if (is_flat(p)) {
      std::vector<std::string> items;
      for (; input < inputs.size(); ++input) items.push_back(input_text(inputs[input]));
      out.push_back(name + list_of(items));
    } else {
      if (input >= inputs.size()) fail(std::string(kind.name) + " has too few inputs");
      out.push_back(name + input_text(inputs[input++]));
    }
  }
  if (input != inputs.size() || attribute != attributes.size())
    fail(std::string(kind.name) + " has too many inputs or attributes");
}

inline std::string statement(const ir::attr& a, const ir::attr* decision) {
  const ir::attr::list& parts = list(a, "an instruction");
  if (parts.size() != 4) fail("an instruction has name, inputs, attributes and outputs");
  const std::string& name = string(parts[0], "the name of an instruction");
  const instruction_kind* kind = kind_of(name);
  if (!kind)
    fail("no instruction is called " + ir::quote(name) + "; " +
         nearest_kind::advice(name, [](const instruction_kind& k) { return name_of(k.name); }));
  std::vector<std::string> arguments;
  read_arguments(*kind, list(parts[1], "inputs"), list(parts[2], "attributes"), arguments);
  if (decision) arguments.push_back("decision=" + ir::print_attr(*decision));
  std::string out;
  for (const ir::attr& v : list(parts[3], "outputs")) {
    if (!out.empty()) out += ", ";
    out += string(v, "an output");
  }
  if (!out.empty()) out += " = ";
  const std::string all = list_of(arguments);
  return out + "sch." + std::string(kind->name) + "(" + all.substr(1, all.size() - 2) + ")\n";
}

}  // namespace detail::json

TILEWRIGHT_INLINE std::string trace::to_json() const {
  std::vector<std::string> instructions, decisions;
  for (const step& s : detail::canonical_steps(steps_)) {
    if (!s.choice.empty()) {
      const bool one = s.what->kind->choice == decision_shape::one;
      std::vector<std::string> values;
      for (const std::int64_t v : s.choice) values.push_back(std::to_string(v));
      decisions.push_back(detail::json::list_of(
          {std::to_string(instructions.size()), one ? values[0] : detail::json::list_of(values)}));
    }
    instructions.push_back(detail::json::instruction_text(*s.what));
  }
  return detail::json::list_of(
      {detail::json::list_of(instructions), detail::json::list_of(decisions)});
}

TILEWRIGHT_INLINE trace trace::from_json(std::string_view text) {
  using namespace detail::json;
  const ir::attr whole = ir::parse_attr(text);
  const ir::attr::list& parts = list(whole, "the whole");
  if (parts.size() != 2) fail("instructions and decisions are needed");
  const ir::attr::list& instructions = list(parts[0], "the first part");
  std::vector<const ir::attr*> decisions(instructions.size(), nullptr);
  for (const ir::attr& d : list(parts[1], "the second part")) {
    const ir::attr::list& pair = list(d, "a decision");
    const auto* index = pair.size() == 2 ? std::get_if<std::int64_t>(&pair[0].value) : nullptr;
    if (!index || *index < 0 || *index >= static_cast<std::int64_t>(decisions.size()))
      fail("a decision has the number of an instruction and a value");
    decisions[static_cast<std::size_t>(*index)] = &pair[1];
  }
  std::string printed;
  for (std::size_t i = 0; i < instructions.size(); ++i)
    printed += statement(instructions[i], decisions[i]);
  trace out = parse(printed);
  if (out.size() != instructions.size()) fail("an input is no single value");
  return out;
}

}  // namespace tilewright
