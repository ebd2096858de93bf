// How a session's rate grows with the ranks that compile and time its candidates.
#pragma once

#include <string>

namespace bench {

/// Runs sessions on 1 to 64 pretended ranks, each of which sleeps as long as compiling and timing a
/// candidate takes and gives a recorded time; what is real is the session: it proposes, shares out,
/// waits and learns on this machine. Prints candidates a second, and the share of as many times the
/// rate of one rank.
/// @param milliseconds that a rank takes for a candidate
/// @param file recorded times; of a file that does not exist, all candidates take a tenth of a millisecond
/// @returns an exit code
int simulate_fleet(int milliseconds, const std::string& file);

}  // namespace bench
