// Classes of sparse patterns: what decides which schedule suits, in a few letters.
//
// The numbers of rows and elements stand in a record as extents. Beside these, schedules differ with
// how the elements are spread over the rows and along them.
#pragma once

#include <string>

#include <tilewright/config.hpp>
#include <tilewright/dispatch/signature.hpp>
#include <tilewright/search/measurement/operands.hpp>

namespace tilewright::dispatch {

/// "l3v2e0g9": row lengths on the average (l), their standard deviation over the average (v), the
/// share of rows without elements (e), and the distance from an element to the next one in its row (g).
/// l and g are binary logarithms, v counts halves, e tenths. Takes offsets and indices that were not
/// checked; "" for a pattern that is not there, or has no element.
std::string pattern_class(const search::operand& offsets, const call_argument& offset_data,
                          const call_argument& index_data);

/// Columns from an element to the next one in its row, on the average over some; 1 where none is listed.
double pattern_gap(const search::operand& offsets, const call_argument& index_data);

}  // namespace tilewright::dispatch
