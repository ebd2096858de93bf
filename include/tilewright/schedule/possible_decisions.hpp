// All that a sampling instruction may draw, for tables and for search that leaves nothing out.
#pragma once

#include <cstddef>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/schedule/instruction.hpp>
#include <tilewright/schedule/state.hpp>

namespace tilewright {

/// The decisions that drawing may give `what` in this state, each once, in ascending order from the
/// innermost factor of a tile outwards. Candidates of weight 0 are left out; so is all behind the
/// first `most`. One empty decision for an instruction that draws nothing.
/// @throws schedule_error where the loop or block of the instruction does not exist
std::vector<decision> possible_decisions(const schedule_state& state, const instruction& what,
                                         std::size_t most = 1 << 16);

}  // namespace tilewright
