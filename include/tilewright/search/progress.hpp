// How far a session has come, as a value and as a line of text.
#pragma once

#include <map>
#include <span>
#include <string>

#include <tilewright/config.hpp>
#include <tilewright/search/measurement/measurement.hpp>
#include <tilewright/search/session_end.hpp>
#include <tilewright/support/stage_time.hpp>

namespace tilewright::search {

/// State of a session, given to the events callback after every measurement.
struct progress {
  int round = 0;
  int trials = 0;
  int since_best = 0;   // trials after the best one
  double last = 0;      // s, the candidate that was measured last; 0: it failed
  double best = 0;      // s
  double baseline = 0;  // s, the default schedule
  double elapsed = 0;   // s
  double left = 0;      // s
  double rate = 0;      // measured candidates per second
  /// Set in one report more, behind the last measurement, where a session ends before its budget.
  session_end end = session_end::none;
  std::map<failure, int> failures;
};

/// "1.23 ms".
std::string time_text(double seconds);

/// A line for a terminal: "  320 trials  best 1.23 ms (2.1x of default)  95/s  4 s left".
std::string progress_line(const progress& p);

/// Where the time went, the longest stage first: "run 61 %, compile 22 %, replay 9 %, ...".
std::string profile_text(std::span<const support::stage_time> stages);

}  // namespace tilewright::search
