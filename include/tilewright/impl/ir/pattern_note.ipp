#pragma once

#include <variant>

#include <tilewright/ir/pattern_note.hpp>

namespace tilewright::ir {

TILEWRIGHT_INLINE void note_pattern(function& f, const pattern_note& note) {
  f.attrs[pattern_attribute] = attr::dict{{"gap", note.gap}};
}

TILEWRIGHT_INLINE std::optional<pattern_note> noted_pattern(const function& f) {
  const auto found = f.attrs.find(pattern_attribute);
  const auto* all =
      found == f.attrs.end() ? nullptr : std::get_if<attr::dict>(&found->second.value);
  const auto gap = all ? all->find("gap") : attr::dict::const_iterator();
  if (!all || gap == all->end()) return std::nullopt;
  const auto* number = std::get_if<double>(&gap->second.value);
  return number && *number > 0 ? std::optional(pattern_note{*number}) : std::nullopt;
}

}  // namespace tilewright::ir
