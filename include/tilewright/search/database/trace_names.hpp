// Traces without the names of a program, as a database keeps them, and with them, as people read them.
//
// Blocks and buffers are called as the user calls his outputs and temporaries, and renaming them makes
// no other program. A stored trace therefore finds them by their place.
#pragma once

#include <string>

#include <tilewright/ir/stmt.hpp>
#include <tilewright/schedule/trace.hpp>

namespace tilewright::search {

/// The trace with blocks by their place in the program's text at the time of each instruction,
/// `get_block(name="#2")`, and with buffers by their place among the regions of their block. It does
/// the same with every program that differs from `f` in names alone. A trace that does not replay on
/// `f` comes back as it is.
trace by_position(const trace& t, const ir::function& f);
/// The inverse, for blocks whose names are unique; buffers keep their places.
trace by_name(const trace& t, const ir::function& f);

/// @name The same for printed traces
/// Text that is no trace comes back as it is.
/// @{
std::string trace_by_position(const std::string& text, const ir::function& f);
std::string trace_by_name(const std::string& text, const ir::function& f);
/// @}

}  // namespace tilewright::search
