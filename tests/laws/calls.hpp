// Every call that somebody might make on a schedule: each kind of instruction with each block, each
// loop and pair of loops, each buffer, and a few numbers, names, maps and scopes that make a
// difference. Most of them have to be refused.
#pragma once

#include <vector>

#include <laws/random_steps.hpp>
#include <tilewright/schedule/schedule.hpp>

namespace laws {

/// The calls on the blocks of `s` whose name no other one has, and on the loops around these. The
/// queries that find them are applied to `s`; the calls are valid for it and its copies.
std::vector<proposal> every_call(schedule& s);

}  // namespace laws
