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

/// What is not known is 0.
struct pattern_note {
  /// From an element to the next one in its row, on the average, in what indices count.
  double gap = 1;
  double mean_row = 0;  // elements
  double spread = 0;    // standard deviation of the lengths of rows over their mean
  double longest = 0;   // row over the mean
  double empty = 0;     // share of rows without elements
  double gini = 0;      // of the lengths of rows
  double padding = 0;   // share of the places of the format that hold no element
  /// Share of the places of blocks with an element that hold one: blocks of the format, or of 4.
  double fill = 0;

  friend bool operator==(const pattern_note&, const pattern_note&) = default;
};

/// The function with the note in the place of what it has.
void note_pattern(function& f, const pattern_note& note);
/// Nothing where the function has none.
std::optional<pattern_note> noted_pattern(const function& f);

}  // namespace tilewright::ir
