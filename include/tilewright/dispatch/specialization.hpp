// One kernel at one set of extents and layout classes: which code runs, and how it was found.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include <tilewright/backend/loader.hpp>
#include <tilewright/config.hpp>
#include <tilewright/dispatch/packed_weights.hpp>
#include <tilewright/dispatch/pattern_lists.hpp>
#include <tilewright/search/database/database.hpp>
#include <tilewright/search/options.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/support/fork_mutex.hpp>

namespace tilewright::dispatch {

/// Where the running code comes from.
enum class origin {
  stored_code,      // the database had a chosen schedule and its code
  stored_schedule,  // it had the schedule; the code was made again
  tuned,            // a session of this process chose it
  estimated,        // ranked first by a model, not measured
  nearest,          // fallback: the schedule of the nearest extents
  unscheduled,      // fallback: the default schedule
  interpreter       // no code can be made
};

/// Code that calls run. Immutable; lives as long as its specialization.
struct variant {
  backend::entry entry = nullptr;  // null: interpret
  std::int64_t workspace_bytes = 0;
  std::shared_ptr<const backend::loaded> code;
  origin from = origin::interpreter;
  std::string trace;
  std::string remark;        // why it is no better one
  double seconds = 0;        // measured; 0: unknown
  double baseline = 0;       // of the default schedule; 0: unknown
  std::string cpu;           // model that `seconds` is of
  packed_weights packed{};   // where weights are bound; calls pass them after the parameters
  std::string checked = {};  // as record::check has it; empty: the code is no winner
  /// Of code with an inspector; calls pass them in the place of packed weights. Null: it has none.
  std::shared_ptr<pattern_lists> lists = {};
};

/// All members but `current` and `report` are for one thread at a time; those two may be called
/// beside it.
class specialization {
 public:
  specialization(search::workload w, const tuned_options& options,
                 std::shared_ptr<search::database> db);

  /// Code to run now; null before `prepare`.
  const variant* current() const noexcept { return current_.load(std::memory_order_acquire); }
  const search::workload& task() const noexcept { return workload_; }

  /// What tuning computes with from now on, until it has ended.
  void give(search::given_values values) {
    const support::fork_pass inside;  // a child may begin anew with it
    workload_.given = std::move(values);
  }
  /// Publishes stored code. False when nothing is stored for this key.
  bool load_stored();
  /// Publishes code made without measuring: the nearest stored schedule where it is ranked above the
  /// default one, else that one; the interpreter when no code generator can be opened.
  void load_fallback(const std::string& remark);
  /// Publishes no code: for when none may be made or loaded any more.
  void load_interpreter(const std::string& remark);
  /// Publishes what the model ranks first, without measuring; the fallback when there is no model.
  void load_estimate();
  /// Runs a session and publishes its winner; false when another process holds the lease. Falls
  /// back when code cannot be made.
  /// @throws what `search::tune` throws; `event::kind::failure` goes out before
  bool tune(const std::atomic<bool>& cancelled);
  /// How a session of it is run, as the options say; without events and an end from outside.
  search::session_options session() const;
  /// Says what the user should know and can mend: to the host program, in the report, and once in a
  /// process on stderr.
  void warn(const std::string& text);
  /// Tells the host program.
  void tell(search::event::kind what, const std::string& text,
            const search::progress& state = {}) const;

  /// Text for people: code, schedule, times, origin.
  std::string report() const;

 private:
  void publish(variant v);
  void note(const std::string& text);
  bool run_session(const std::atomic<bool>& cancelled);
  bool publish_trace(const search::record& stored, origin from, const std::string& remark,
                     double seconds);
  double baseline_of(const variant& v) const;
  std::string database_text() const;

  search::workload workload_;
  const tuned_options& options_;
  std::shared_ptr<search::database> db_;
  std::atomic<const variant*> current_{nullptr};
  mutable support::fork_mutex mutex_;                      // of what follows
  std::vector<std::unique_ptr<const variant>> published_;  // calls may still run the old ones
  std::vector<std::string> remarks_;
};

}  // namespace tilewright::dispatch
