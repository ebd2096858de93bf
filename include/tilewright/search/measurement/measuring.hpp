// What a user may choose about building and timing candidates.
#pragma once

#include <functional>

#include <tilewright/config.hpp>
#include <tilewright/search/measurement/builder.hpp>
#include <tilewright/search/measurement/measurement.hpp>

namespace tilewright::search {

struct workload;
class argument_memory;

/// Which process compiles and runs candidates.
enum class isolation {
  none,   // this one: they run in memory between guard pages, under handlers for faults
  worker  // `tilewright worker`: some compile, one runs them on shared memory; what kills or stops
          // one of these processes is a failure of the candidate
};

/// What candidates compute with while they are timed.
enum class timing_data {
  made_up,  // reproducible sane values, indices in their bounds
  copied    // copies of the arguments of the call that asks for tuning, where there is one
};

/// Makes one call of code that this machine does not run, elsewhere, and leaves its outputs in the
/// memory of `arguments`. // deadline: s
using caller = std::function<measurement(const built& code, const argument_memory& arguments,
                                         double deadline)>;

/// Times candidates in place of the library; the checks of their results stay in this process.
using measurer = std::function<measurement(const built& code, const measure_options& options)>;

struct measuring_options {
  caches where = caches::warm;
  timing_data data = timing_data::made_up;
  isolation run_in = isolation::none;
  double build_deadline = 30;  // s for a candidate
  double run_deadline = 0;  // s for a candidate; 0: twenty times the default's, at least a second
  double hopeless = 2;      // a candidate slower than this multiple of the best is not repeated
  int finalists = 3;        // that are timed again, in turn with the default
  builder build = {};       // null: `search::build`
  int builds = 0;           // programs that are built at a time; 0: as the cores allow
  std::function<measurer(const workload&)> runner = {};  // makes one for a session; null: `run_in`
  caller call = {};  // null: results that are checked are computed where `run_in` says
};

}  // namespace tilewright::search
