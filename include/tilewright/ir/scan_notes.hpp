// What loops of scans say of how they are to be run: rooms that write these notes and rooms that follow them
// stand apart.
#pragma once

namespace tilewright::ir {

/// Annotation of a loop each iteration of which combines what the one before has stored with a term: so many steps, a power of
/// two from 4 to 64, may be one vector, whose lanes are combined in another order. 0 asks for none.
inline constexpr const char* running_note = "tilewright.running";

}  // namespace tilewright::ir
