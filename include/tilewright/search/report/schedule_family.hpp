// The family of a schedule: which structure of the space it has, in a few words.
#pragma once

#include <string>

#include <tilewright/config.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/schedule/trace.hpp>

namespace tilewright::search {

/// "C in register tiles of 8 x 32, B staged, T inlined, parallel": what the trace does to the blocks
/// and buffers of `f`, and the tile of its largest reduction, rows by lanes, as the program has it
/// afterwards. Two schedules of one family differ in numbers alone; "loops as they are written" where
/// the trace does nothing of this.
/// @throws replay_error, argument_error where the trace does not replay on `f`
std::string schedule_family(const trace& t, const ir::function& f);

}  // namespace tilewright::search
