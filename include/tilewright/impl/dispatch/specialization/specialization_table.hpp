// The specializations of a dispatcher by extents and layout classes: each is made once, brought to
// running code once, tuned once.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <tilewright/backend/narrow_executor.hpp>
#include <tilewright/backend/pool.hpp>
#include <tilewright/dispatch/dispatcher.hpp>
#include <tilewright/dispatch/layout.hpp>
#include <tilewright/dispatch/specialization.hpp>
#include <tilewright/dispatch/weight_set.hpp>
#include <tilewright/impl/dispatch/at_exit.hpp>
#include <tilewright/impl/dispatch/background_threads.hpp>
#include <tilewright/impl/dispatch/binding_table.hpp>
#include <tilewright/impl/dispatch/specialization/visit_list.hpp>
#include <tilewright/impl/search/measurement/process_sync.hpp>
#include <tilewright/search/database/database.hpp>
#include <tilewright/search/options.hpp>

namespace tilewright::dispatch::detail {

/// Where a specialization is made, brought to running code, and tuned.
struct specialization_slot {
  enum class stage { fresh, preparing, ready };
  std::unique_ptr<specialization> code;  // null: nothing to do, or `identity`
  ir::function function;                 // unscheduled, dimensions in the user's order
  std::vector<search::operand> operands;
  bool gathers = false;
  bool sparse = false;                   // some operands are offsets of sparse rows
  std::optional<ir::function> identity;  // interpreted instead: a reduction over nothing

  // what follows is guarded by the lock of the table, except atomics
  stage at = stage::fresh;
  pid_t preparer = 0;
  std::thread::id preparing{};  // the thread, of process `preparer`
  pid_t upgrader = 0;           // process that has a thread working on it; 0: none
  std::thread::id upgrading{};
  bool interrupted = false;  // cancelled before tuning ended
  std::atomic<bool> cancelled{false};
  /// Somebody else tunes it; calls look now and then for the result.
  std::atomic<bool> following{false};
  std::atomic<std::int64_t> look_at{0};  // steady_clock ticks
  std::int64_t pause = 0;                // ticks between looks
  pid_t looking = 0;
};

/// All members may be called from any thread; the lock is never held while code is made.
class specialization_table {
 public:
  /// @param make the kernel at given extents
  specialization_table(const kernel_signature& kernel,
                       std::function<ir::function(const search::extent_map&)> make,
                       tuned_options options, const weight_set& weights = {});
  ~specialization_table();
  specialization_table(const specialization_table&) = delete;
  specialization_table& operator=(const specialization_table&) = delete;

  /// Calls that may tune or compile. The table's end and the process's exit cancel what they do and wait for
  /// them.
  visit_list& visits() noexcept { return visits_; }

  const backend::executor& executor() const noexcept { return *exec_; }
  search::detail::process_sync::pair& sync() { return sync_.get(); }

  /// The slot of a call.
  specialization_slot& at(const search::extent_map& dims, const binding& b,
                          const call_argument* arguments);
  /// Returns when it can run; tunes it when the mode says so.
  /// @param arguments of the call, for tuning with copies of them; null: there are none
  /// @param again goes on with tuning that was cancelled before
  /// @returns false where the thread that prepares it has been in the user's event handler for so long
  /// that the handler may wait for this call: it can be interpreted, but is not ready
  bool make_ready(specialization_slot& s, const call_argument* arguments = nullptr,
                  bool again = false);
  /// What a session of it needs; of a slot that has code.
  /// @param arguments of a call, without data where there is none
  tuning_task task(const specialization_slot& s, const call_argument* arguments) const;
  /// Has a slot that runs already run what is stored.
  void reload(specialization_slot& s);
  /// For a slot that follows another process: takes its result when it is there, its place
  /// when it gave up. Costs a look at a clock most of the time.
  void follow(specialization_slot& s);

  /// Ends the tuning in progress, of no later slot.
  void cancel();
  /// Waits for this process's tuning in the background.
  /// @throws argument_error where that waits for the caller
  void wait();
  /// What there is to say of the threads that calls run on; empty: nothing.
  std::string threads_remark() const;

 private:
  class handler_call;
  void make(specialization_slot& s, const search::extent_map& dims,
            const std::vector<layout_class>& layouts, const binding& b,
            const call_argument* arguments);
  std::optional<ir::function> shrunk(const search::extent_map& dims,
                                     const std::vector<layout_class>& layouts) const;
  bool handler_is_slow() const;
  std::string tune_first(const search::workload& w) const;
  void prepare(specialization_slot& s);
  /// Times what an earlier revision of the library chose in turns with the default schedule of this one, before the call or beside
  /// those that follow, as the mode says.
  void renew(specialization_slot& s);
  void start_following(specialization_slot& s);
  bool take_over(specialization_slot& s);
  bool start_background(specialization_slot& s);
  void tune_in_background(specialization_slot& s);
  argument_error waits_for_itself() const;
  /// Ends the tuning of this process; none begins in the background after it.
  void end_threads() noexcept;
  /// Waits for visits that other threads are on, which are told to end.
  void end_visits() noexcept;
  /// @throws argument_error for an executor that makes no sense
  void choose_executor();
  void say_capped(int wanted);

  const kernel_signature& kernel_;
  std::function<ir::function(const search::extent_map&)> make_;
  weight_set weights_;
  tuned_options options_;
  tilewright::mode mode_;
  target::cpu cpu_;
  const backend::executor* exec_ = nullptr;
  std::unique_ptr<backend::pool> own_pool_;
  std::unique_ptr<backend::narrow_executor> narrow_;  // of the user's own
  std::vector<std::string> remarks_;                  // on the options
  std::shared_ptr<search::database> db_;
  std::map<std::string, std::unique_ptr<specialization_slot>> all_;
  background_threads threads_;
  bool ended_ = false;
  /// Calls of the user's event handler that run: of which process, and since when. // steady_clock ticks
  std::multiset<std::pair<pid_t, std::int64_t>> handler_calls_;
  search::detail::process_sync sync_;
  visit_list visits_{sync_};
  exit_entry exit_{[](void* self) { static_cast<specialization_table*>(self)->end_threads(); },
                   this,
                   [](void* self) { static_cast<specialization_table*>(self)->end_visits(); }};
};

}  // namespace tilewright::dispatch::detail
