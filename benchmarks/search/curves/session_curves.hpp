// How the best time of a whole session falls with its seconds, and what rules that end it earlier
// save and lose.
#pragma once

#include <cstdint>
#include <string>

namespace bench {

struct session_curve_options {
  double seconds = 10;     // of a session
  int problems = 24;       // of bench_cliffs, beside the recorded workloads
  std::uint64_t seed = 1;  // of the sessions and the problems
};

/// Runs sessions that use all their time and appends to `out` a line
/// "workload,seed,default,trials,elapsed,last,best" a candidate, times in seconds; `last` is 0 for
/// one that failed.
/// @returns an exit code
int record_sessions(const std::string& out, const session_curve_options& o);

/// Prints how near the best of whole sessions the default and the first trials are, and for ends by
/// expected gain of several strengths: when they would have ended the sessions of `curves`, and how
/// much slower the best time was then than that of the whole session.
int compare_ends(const std::string& curves);

/// Times what runs before anything is measured: the default schedule; of 64 draws of each sketch and
/// the default the one that the shipped model ranks first; and the fastest of the sketches as they
/// come, which takes a measurement of each. Prints them as shares of the best time that `curves`
/// knows.
int compare_first_answers(const std::string& curves, const session_curve_options& o);

}  // namespace bench
