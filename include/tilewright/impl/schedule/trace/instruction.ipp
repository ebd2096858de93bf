#pragma once

#include <string>
#include <utility>
#include <variant>

#include <tilewright/schedule/instruction.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright {
namespace detail {

inline std::uint32_t renumbered(std::uint32_t number, std::span<const std::uint32_t> numbers) {
  if (number >= numbers.size())
    throw argument_error("trace: variable number " + std::to_string(number) +
                         " is used before an instruction gives it");
  return numbers[number];
}

inline factor renumber_factor(const factor& f, std::span<const std::uint32_t> numbers) {
  switch (f.kind()) {
    case factor::op::inferred:
    case factor::op::literal: return f;
    case factor::op::variable:
      return expr_rv{renumbered(static_cast<std::uint32_t>(f.value()), numbers)};
    default:
      return {f.kind(), renumber_factor(f.left(), numbers), renumber_factor(f.right(), numbers)};
  }
}

inline void collect_factor(const factor& f, std::vector<rv>& out) {
  switch (f.kind()) {
    case factor::op::inferred:
    case factor::op::literal: return;
    case factor::op::variable:
      out.push_back({rv_class::integer, static_cast<std::uint32_t>(f.value())});
      return;
    default: collect_factor(f.left(), out); collect_factor(f.right(), out);
  }
}

inline annotation_value renumber_note(const annotation_value& note,
                                      std::span<const std::uint32_t> numbers) {
  if (const factor* f = std::get_if<factor>(&note.value)) return renumber_factor(*f, numbers);
  if (const auto* list = std::get_if<annotation_value::list>(&note.value)) {
    annotation_value::list out;
    for (const annotation_value& item : *list) out.push_back(renumber_note(item, numbers));
    return out;
  }
  if (const auto* dict = std::get_if<annotation_value::dict>(&note.value)) {
    annotation_value::dict out;
    for (const auto& [key, item] : *dict) out.emplace(key, renumber_note(item, numbers));
    return out;
  }
  return note;
}

inline void collect_note(const annotation_value& note, std::vector<rv>& out) {
  if (const factor* f = std::get_if<factor>(&note.value)) collect_factor(*f, out);
  if (const auto* list = std::get_if<annotation_value::list>(&note.value))
    for (const annotation_value& item : *list) collect_note(item, out);
  if (const auto* dict = std::get_if<annotation_value::dict>(&note.value))
    for (const auto& [key, item] : *dict) collect_note(item, out);
}

}  // namespace detail

TILEWRIGHT_INLINE annotation_value::annotation_value(std::in_place_t, ir::attr constant)
    : value(std::move(constant)) {}
TILEWRIGHT_INLINE annotation_value::annotation_value(expr_rv v) : value(factor(v)) {}
TILEWRIGHT_INLINE annotation_value::annotation_value(factor f) : value(std::move(f)) {}
TILEWRIGHT_INLINE annotation_value::annotation_value(list l) : value(std::move(l)) {}
TILEWRIGHT_INLINE annotation_value::annotation_value(dict d) : value(std::move(d)) {}
TILEWRIGHT_INLINE annotation_value::annotation_value(const annotation_value&) = default;
TILEWRIGHT_INLINE annotation_value::annotation_value(annotation_value&&) noexcept = default;
TILEWRIGHT_INLINE annotation_value& annotation_value::operator=(const annotation_value&) = default;
TILEWRIGHT_INLINE annotation_value& annotation_value::operator=(annotation_value&&) noexcept =
    default;
TILEWRIGHT_INLINE annotation_value::~annotation_value() = default;
TILEWRIGHT_INLINE bool operator==(const annotation_value& a, const annotation_value& b) {
  return a.value == b.value;
}

TILEWRIGHT_INLINE argument::argument() = default;
TILEWRIGHT_INLINE argument::argument(std::monostate) {}
TILEWRIGHT_INLINE argument::argument(rv v) : variant(v) {}
TILEWRIGHT_INLINE argument::argument(std::vector<rv> list) : variant(std::move(list)) {}
TILEWRIGHT_INLINE argument::argument(std::vector<factor> list) : variant(std::move(list)) {}
TILEWRIGHT_INLINE argument::argument(std::string text) : variant(std::move(text)) {}
TILEWRIGHT_INLINE argument::argument(std::vector<std::int64_t> list) : variant(std::move(list)) {}
TILEWRIGHT_INLINE argument::argument(std::vector<double> list) : variant(std::move(list)) {}
TILEWRIGHT_INLINE argument::argument(annotation_value note) : variant(std::move(note)) {}
TILEWRIGHT_INLINE argument::argument(factor f) : variant(std::move(f)) {}
TILEWRIGHT_INLINE argument::argument(buffer_selector buffer) : variant(std::move(buffer)) {}
TILEWRIGHT_INLINE argument::argument(map_argument map) : variant(std::move(map)) {}
TILEWRIGHT_INLINE argument::argument(std::in_place_t, bool v) : variant(v) {}
TILEWRIGHT_INLINE argument::argument(std::in_place_t, std::int64_t v) : variant(v) {}
TILEWRIGHT_INLINE argument::argument(std::in_place_t, double v) : variant(v) {}
TILEWRIGHT_INLINE argument::argument(const argument&) = default;
TILEWRIGHT_INLINE argument::argument(argument&&) noexcept = default;
TILEWRIGHT_INLINE argument& argument::operator=(const argument&) = default;
TILEWRIGHT_INLINE argument& argument::operator=(argument&&) noexcept = default;
TILEWRIGHT_INLINE argument::~argument() = default;
TILEWRIGHT_INLINE bool operator==(const argument& a, const argument& b) {
  const auto alternatives = [](const argument& x) -> const argument::variant& { return x; };
  return alternatives(a) == alternatives(b);
}

TILEWRIGHT_INLINE argument renumber(const argument& a, std::span<const std::uint32_t> numbers) {
  if (const rv* v = std::get_if<rv>(&a)) return rv{v->kind, detail::renumbered(v->number, numbers)};
  if (const auto* list = std::get_if<std::vector<rv>>(&a)) {
    std::vector<rv> out = *list;
    for (rv& v : out) v.number = detail::renumbered(v.number, numbers);
    return out;
  }
  if (const auto* list = std::get_if<std::vector<factor>>(&a)) {
    std::vector<factor> out;
    out.reserve(list->size());
    for (const factor& f : *list) out.push_back(detail::renumber_factor(f, numbers));
    return out;
  }
  if (const auto* note = std::get_if<annotation_value>(&a))
    return detail::renumber_note(*note, numbers);
  if (const factor* f = std::get_if<factor>(&a)) return detail::renumber_factor(*f, numbers);
  if (const map_argument* map = std::get_if<map_argument>(&a)) {
    map_argument out = *map;
    for (auto& [v, number] : out.variables)
      number.number = detail::renumbered(number.number, numbers);
    return out;
  }
  return a;
}

TILEWRIGHT_INLINE void collect_rvs(const argument& a, std::vector<rv>& out) {
  if (const rv* v = std::get_if<rv>(&a)) out.push_back(*v);
  if (const auto* list = std::get_if<std::vector<rv>>(&a))
    out.insert(out.end(), list->begin(), list->end());
  if (const auto* list = std::get_if<std::vector<factor>>(&a))
    for (const factor& f : *list) detail::collect_factor(f, out);
  if (const auto* note = std::get_if<annotation_value>(&a)) detail::collect_note(*note, out);
  if (const factor* f = std::get_if<factor>(&a)) detail::collect_factor(*f, out);
  if (const map_argument* map = std::get_if<map_argument>(&a))
    for (const auto& [v, number] : map->variables) out.push_back(number);
}

}  // namespace tilewright
