// What is known of the sparse pattern that a function walks, for those who judge its schedules.
//
// It stands in an attribute, so that it travels with the function through files and processes. It is no part of
// what the function computes: `equal` and the workload key leave it out.
#pragma once

#include <optional>

#include <tilewright/config.hpp>
#include <tilewright/ir/stmt.hpp>

namespace tilewright::ir {

/// Attribute of a function on flat storage.
inline constexpr const char* pattern_attribute = "tilewright.pattern";

struct pattern_note {
  double gap =
      1;  // from an element to the next one in its row, on the average, in what indices count
};

/// The function with the note in the place of what it has.
void note_pattern(function& f, const pattern_note& note);
/// Nothing where the function has none.
std::optional<pattern_note> noted_pattern(const function& f);

}  // namespace tilewright::ir
