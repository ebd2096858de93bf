#pragma once

#include <cmath>
#include <utility>
#include <variant>

#include <tilewright/ir/pattern_note.hpp>

namespace tilewright::ir {

namespace detail {

/// Calls `f(key, value)` for each number of the note.
template <class Note, class Visit>
void each_number(Note& note, const Visit& f) {
  f("gap", note.gap);
  f("mean_row", note.mean_row);
  f("spread", note.spread);
  f("longest", note.longest);
  f("empty", note.empty);
  f("gini", note.gini);
  f("padding", note.padding);
  f("fill", note.fill);
}

}  // namespace detail

TILEWRIGHT_INLINE void note_pattern(function& f, const pattern_note& note) {
  attr::dict out;
  detail::each_number(note, [&](const char* key, double value) {
    if (value != 0) out.emplace(key, value);
  });
  f.attrs[pattern_attribute] = std::move(out);
}

TILEWRIGHT_INLINE std::optional<pattern_note> noted_pattern(const function& f) {
  const auto found = f.attrs.find(pattern_attribute);
  const auto* all =
      found == f.attrs.end() ? nullptr : std::get_if<attr::dict>(&found->second.value);
  if (!all) return std::nullopt;
  pattern_note out;
  out.gap = 0;
  detail::each_number(out, [&](const char* key, double& value) {
    const auto at = all->find(key);
    const auto* number = at == all->end() ? nullptr : std::get_if<double>(&at->second.value);
    if (number && std::isfinite(*number) && *number > 0) value = *number;
  });
  return out.gap > 0 ? std::optional(out) : std::nullopt;
}

}  // namespace tilewright::ir
