// Tunes one workload: proposes schedules, measures them, and decides what to keep.
//
// A strategy proposes; programs that are equal are measured once. A new best is compared in full
// with the default schedule, and at some points with f64, before it counts. At the end the
// finalists and the default are timed again in turn, and the winner is kept only if it is faster by
// more than the noise.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/backend/artifact.hpp>
#include <tilewright/backend/call.hpp>
#include <tilewright/config.hpp>
#include <tilewright/search/callbacks.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/search/database/database.hpp>
#include <tilewright/search/measurement/argument_layout.hpp>
#include <tilewright/search/measurement/measuring.hpp>
#include <tilewright/search/mutator.hpp>
#include <tilewright/search/progress.hpp>
#include <tilewright/search/session_end.hpp>
#include <tilewright/search/strategy.hpp>
#include <tilewright/space/space.hpp>
#include <tilewright/support/stage_time.hpp>
#include <tilewright/target/cpu.hpp>
#include <tilewright/target/machine.hpp>

namespace tilewright::search {

/// Text that is equal for one kernel at all extents: its name, the types and ranks of its
/// parameters, the kinds of its blocks' iteration variables, and whether it keeps the order of its terms.
std::string family_of(const ir::function& f);

/// What is tuned, and where.
struct workload {
  ir::function function;  // literal extents
  record_key key;
  std::string family;
  std::vector<std::int64_t> extents;     // as in record
  std::vector<argument_layout> layouts;  // one per parameter
  /// Data of bound parameters, dense and row-major, null for the others; empty when none is. For
  /// calls: a session makes up weights as it makes up arguments.
  std::vector<const void*> bound;
  /// What candidates compute with; empty, or empty for a parameter: made up.
  given_values given;
  target::machine machine;  // of a CPU, `cores` is the number of threads to make code for
  const backend::executor* exec = nullptr;
  space::design_space space;
  /// The same kernel at small extents, for the comparison of the default schedule with the
  /// interpreter; may be null, or give nothing.
  std::function<std::optional<ir::function>()> shrunk;
};

/// The provenance of what is made and measured now, on this machine.
provenance made_on(const target::machine& where);

/// What a lookup for `w` on this machine is about: a record without schedule and times.
record wanted_record(const workload& w);

/// database::nearest for `w`. Families of older records name blocks, and parameters: they are asked
/// for next.
std::optional<record> nearest_record(const database& db, const workload& w);

/// Ranks candidates before they are compiled: larger is better.
struct scorer {
  std::function<std::vector<double>(const std::vector<candidate>&)> score;  // null: no preference
  /// What was measured, for a model that learns.
  std::function<void(const std::vector<candidate>&, const std::vector<measurement>&)>
      learn;           // may be null
  int oversample = 1;  // candidates proposed per candidate measured
};

struct session_options {
  double seconds = 10;
  int trials = std::numeric_limits<int>::max();
  double target = 0;                               // s: a best time at or below it ends the session
  int patience = std::numeric_limits<int>::max();  // trials without a better one that end it
  /// A session ends when going on is expected to make calls faster by no more than this share; 0:
  /// all of `seconds` is used.
  double gain = 0;
  std::uint64_t seed = 42;
  int batch = 16;
  scorer model;
  /// Makes the strategy; null: evolution with boosted trees, or a local search where `model`
  /// scores.
  std::function<std::unique_ptr<strategy>(std::uint64_t seed)> method;
  measuring_options measuring;
  std::function<void(const progress&)> events;  // may be null
  measure_callbacks callbacks = {};
  /// What changes traces, with weights, in the strategy that `method` does not choose; empty: all
  /// that `mutators()` lists.
  std::vector<mutator> changes = {};
  /// Looked at every 10 ms. A call that runs then ends before the next iteration of any loop whose
  /// iterations have 4096 element operations or more; a single flat loop comes to its end, and so do
  /// compilations that have begun, but for those of candidates in workers.
  const std::atomic<bool>* cancelled = nullptr;
};

/// What a session found. The default schedule wins when nothing beats it by more than the noise.
struct tuning_result {
  std::string trace;  // of the winner
  backend::artifact code;
  double best = 0;      // s, median of the final timing; 0: cancelled before anything was timed
  double baseline = 0;  // s, the same of the default schedule
  bool improved = false;
  double noise = 0;  // of the final timing: times that differ by a smaller share count as equal
  int trials = 0;
  double seconds = 0;
  session_end end = session_end::none;
  std::map<failure, int> failures;
  /// As record::checked, of the winner; empty where the session was cancelled.
  std::string checked;
  /// Where the time of the session's thread went: "sketch" (the space runs), "replay" (traces become
  /// programs), "features", "score", "learn", "compile" (waiting for code), "run", "verify",
  /// "database", "other".
  std::vector<support::stage_time> profile;
  std::vector<std::string> remarks;  // checks that were skipped, records that did not replay, ...
};

/// Runs a session. Every measurement is stored in `db` as it is made; the winner is stored as
/// chosen, with its code. A session that was cancelled, or killed, goes on where it was: what `db`
/// knows are the first parents.
/// @throws build_error when not even the default schedule can be compiled
/// @throws internal_error when the default schedule computes something else than the interpreter,
/// or differs from f64
///         at some point and from the program without a schedule
/// @throws argument_error when alternatives of the kernel compute different results
tuning_result tune(const workload& w, const session_options& options, database& db);

/// The schedule that runs when nothing was measured: the first sketch of the space, of several algorithms the first of
/// the one that is expected to be the fastest, or the program as it stands when the space has none.
schedule default_schedule(const ir::function& f, const space::design_space& s,
                          const space::context& where, std::uint64_t seed);

}  // namespace tilewright::search
