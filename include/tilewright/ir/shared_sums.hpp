// Long sums that threads share: rooms that ask for it and rooms that make it stand apart.
#pragma once

namespace tilewright::ir {

/// Annotation of blocks, and of the loops of their reductions, whose number of terms is data: parts of a long one that
/// threads combine at once. Rows of a matrix may be fewer than threads.
inline constexpr const char* shared_sums_note = "tilewright.shared_sums";

/// Annotation of a loop with `balance_annotation` (ir/sparse.hpp): so many tasks share it out, which begin and end inside
/// of rows (pass/rows/divide_rows.hpp).
inline constexpr const char* tasks_annotation = "tilewright.tasks";

}  // namespace tilewright::ir
