// Classes of sparse patterns: what decides which schedule suits, in a few letters.
//
// The numbers of rows and elements stand in a record as extents. Beside these, schedules differ with
// how the elements are spread over the rows and along them.
#pragma once

#include <string>

#include <tilewright/config.hpp>
#include <tilewright/dispatch/signature.hpp>
#include <tilewright/ir/pattern_note.hpp>
#include <tilewright/search/measurement/operands.hpp>

namespace tilewright::dispatch {

/// "l3v2e0g9": row lengths on the average (l), their standard deviation over the average (v), the
/// share of rows without elements (e), and the distance from an element to the next one in its row (g).
/// l and g are binary logarithms, v counts halves, e tenths. Takes offsets and indices that were not
/// checked; "" for a pattern that is not there, or has no element.
std::string pattern_class(const search::operand& offsets, const call_argument& offset_data,
                          const call_argument& index_data);

/// What the cost model sees of a pattern: how rows differ in length, and how far apart the elements of one lie, on
/// the average over some; the gap is 1 where no index is listed.
ir::pattern_note pattern_note_of(const search::operand& offsets, const call_argument& offset_data,
                                 const call_argument& index_data);

}  // namespace tilewright::dispatch
