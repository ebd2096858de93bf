// What is asked of a measurement, and what comes out of it.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include <tilewright/config.hpp>

namespace tilewright::search {

/// Why a candidate gave no usable time.
enum class failure {
  none,
  schedule,      // a primitive refused
  build,         // it could not be compiled
  fault,         // its code ended with a signal
  timeout,       // it took longer than its deadline, to compile or to run
  cancelled,     // the user ended it
  wrong_result,  // it computed something else
  worker,        // the process that ran it died, or answered nonsense
  resources,     // it was compiled for a GPU, and its code needs more than is worth starting
  veto           // a callback dropped it
};
/// "fault", "timeout", ...
const char* name(failure f);

/// Times of one candidate.
struct measurement {
  std::vector<double> seconds;  // [repeats], per call
  failure failed = failure::none;
  std::string detail;  // what failed, in words

  bool ok() const { return failed == failure::none && !seconds.empty(); }
  double best() const;
  double median() const;
  /// Distance between the quartiles over the median: the noise of this measurement. 1 where fewer
  /// than three times cannot say.
  double spread() const;
};

/// Where a candidate finds its arguments when a timed call begins.
enum class caches {
  warm,     // where the call before left them
  cold,     // in memory: they are flushed before every timed call
  rotating  // in memory, as in a program that streams: calls go round a ring of copies larger than the
  // last cache. Of a kernel with bound weights these alone, as in a network: flushed before
};

/// "warm", "cold", "rotating".
const char* name(caches c);
/// What the class of arguments of a record key ends with: times of other states of the caches are
/// other times, and have keys of their own. "" when warm, " cold", " rotating"
std::string key_suffix(caches c);

struct measure_options {
  double best = std::numeric_limits<double>::infinity();  // s, of what was found before
  double hopeless = 2;     // a candidate slower than this multiple of `best` is not repeated
  double evidence = 1e-3;  // s of calls, each as fast as the fastest, before that is decided
  double deadline = 10;    // s for all of it; then the candidate is cancelled
  double budget = 0.02;    // s spent repeating
  int repeats = 5;         // at least, unless the budget is used up
  int most_repeats = 25;   // 0: the call that warms up is what counts
  double stable = 0.02;    // repeats end when the spread is below this
  caches where = caches::warm;
};

}  // namespace tilewright::search
