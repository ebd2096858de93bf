// Builds candidates without running any: what can be said about a GPU on a machine that has none.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/search/session.hpp>

namespace tilewright::search {

/// What became of the candidates.
struct gate_result {
  std::string trace;  // of the default schedule
  int built = 0;      // with code that is worth starting, the default schedule among them
  std::map<failure, int> failures;
  std::string last_error;  // of a candidate, in words; empty where none failed
  double seconds = 0;
};

/// Proposes candidates as a session does that has measured nothing, and builds them: until the
/// seconds or the trials of the options are used up, or the space is.
/// @param events called after each round; may be null
/// @throws build_error when not even the default schedule can be built
gate_result gate(const workload& w, const session_options& options,
                 const std::function<void(const gate_result&)>& events = {});

}  // namespace tilewright::search
