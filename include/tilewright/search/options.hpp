// What a user may choose about tuning.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/backend/call.hpp>
#include <tilewright/config.hpp>
#include <tilewright/search/database/database.hpp>
#include <tilewright/search/event.hpp>
#include <tilewright/search/pattern_check.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/space/space.hpp>
#include <tilewright/sparse/format_rule.hpp>

namespace tilewright {

/// What a call does when no schedule is stored for its arguments.
enum class mode {
  now,         // tune, then run
  background,  // run the fallback, tune on another thread, swap when done
  off,         // run the fallback: the nearest stored schedule, else the default one
  miss_error   // throw
};

/// How hard tuning tries, as in FFTW.
enum class effort {
  estimate,   // nothing is ever measured: what the model (yours, or the shipped prior) ranks first
  measure,    // within the budget
  patient,    // eight times the budget
  exhaustive  // until the space has no new program, or another stop rule ends it; `seconds` does
              // not
};

/// In which order the terms of reductions of floats are combined.
enum class reductions {
  any_order,  // as the schedule found has them: the fastest
  /// One after the other, as the kernel's program has them, and products rounded before they are added. All
  /// schedules of a kernel compute the same bits: docs/numbers.md says what is promised. For CPUs.
  in_order
};

/// Options of a tuned kernel. Tuning ends when the first of `seconds`, `trials`, `target`,
/// `patience` and `gain` says so. A budget that is named, in seconds or trials, is used whole: where
/// neither is, tuning ends as soon as more of it is expected to bring nothing, mostly after one or two
/// of ten seconds. The environment variable TILEWRIGHT_TUNE (now, background, off, miss_error)
/// overrides `mode`, TILEWRIGHT_DB the default of `database`, TILEWRIGHT_NUM_THREADS that of
/// `threads`.
struct tuned_options {
  std::optional<double> seconds = {};  // budget of one tuning session; 10 where it is not named
  int trials = std::numeric_limits<int>::max();
  double target = 0;                               // s per call: good enough
  int patience = std::numeric_limits<int>::max();  // trials without a better one
  /// Share by which calls have to be expected to become faster for tuning to go on; 0: it uses all
  /// of its budget. Where it is not named: 0.01, and 0 where `seconds`, `trials` or an effort above
  /// `measure` is.
  std::optional<double> gain = {};
  std::string database = {};  // file; empty: the user's one, ":memory:": none
  /// An open database, or one of a class of your own, in the place of that file.
  std::shared_ptr<search::database> own_database = {};
  tilewright::mode mode = tilewright::mode::now;
  tilewright::effort effort = tilewright::effort::measure;
  space::design_space space = {};  // empty: the default space of the target
  int threads = 0;                 // of a call; 0: all of the process's pool
  /// Runs the parallel loops of calls and of tuning in the place of that pool: one of your own, which
  /// has to outlive the op. `threads` is its number of threads then.
  const backend::executor* executor = nullptr;
  tilewright::reductions reductions = tilewright::reductions::any_order;
  std::uint64_t seed = 42;
  bool verbose = false;  // progress on stderr also when that is no terminal; TILEWRIGHT_LOG=1 too
  pattern_check patterns = pattern_check::once;  // when those of sparse arguments are checked
  /// Calls with one sparse matrix over which its conversion into another format may pay; 0: a matrix stays in
  /// the format that it comes in. See model/format_choice.hpp.
  double calls = 0;
  /// A format for the one sparse matrix of the kernel, in which calls compute with it: made of the matrix at the first
  /// call and kept, as docs/sparse.md says. Null: the format that it comes in, or one by `calls`.
  sparse::format_maker format = {};
  /// Sparse matrices may change in place between calls: one that was converted is compared with what it was
  /// at each call, which takes a part of a product with a vector, and so are offsets of which rows were listed. Without,
  /// the program promises that they do not.
  bool matrices_change = true;
  /// Formats of a sparse matrix are left out whose arrays, with the values that one call brings to their places, would
  /// take more bytes than this; compressed rows, in which it comes, are none of them.
  std::int64_t most_format_bytes = std::numeric_limits<std::int64_t>::max();
  search::measuring_options measuring = {};  // how candidates are built and timed
  search::event_handler events = {};
  std::vector<search::mutator> changes = {};  // what changes traces, with weights; empty: all
  search::measure_callbacks callbacks = {};   // see every candidate, and may veto or stop
  search::scorer model = {};
  /// Makes the strategy of a session; null: evolution guided by boosted trees.
  std::function<std::unique_ptr<search::strategy>(std::uint64_t seed)> method = {};
};

}  // namespace tilewright
