// Sessions over algorithms that take their arguments in another form, as a sparse matrix in another
// format: which form it is, is the first decision of a trace.
//
// A candidate computes with arguments of its own form. They are made of those that the session has made
// up, or was given, once for each form that is measured, and kept with the session: in the memory of a
// worker where candidates run in one. What candidates compute is compared with what the workload's own
// algorithm computes of its own arguments.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/search/measurement/argument_values.hpp>
#include <tilewright/search/measurement/runner.hpp>
#include <tilewright/search/session.hpp>

namespace tilewright::search {

/// An algorithm with the arguments that it takes.
struct formed_arguments {
  ir::function function;                 // literal extents
  std::vector<argument_layout> layouts;  // one per parameter
  given_values given;                    // of every parameter
};

/// A form of the arguments of a workload.
struct argument_form {
  std::string algorithm;  // of the workload's function (ir/reformatted.hpp), which takes them
  double charge = 0;      // s that count with each call, as a share of what making the form takes
  double least_gain = 0;  // share of a call by which it has to be faster than the workload's own
  /// Makes them of the workload's own at any extents. Called by one thread at a time.
  /// @throws argument_error when these have no such form
  std::function<formed_arguments(const runner& plain)> make;
};

/// As tune, of a function whose algorithms that are named by `forms` take other arguments; the others
/// take those of the function. Times are those of a call with `charge`.
/// @param known traces that are measured first and timed in the last round, whatever else is found; what does not
/// replay is left out
tuning_result tune(const workload& w, const session_options& options, database& db,
                   const std::vector<argument_form>& forms,
                   const std::vector<std::string>& known = {});

/// The algorithm that a trace begins with; "" where it names none.
std::string algorithm_of(const trace& t);

}  // namespace tilewright::search
