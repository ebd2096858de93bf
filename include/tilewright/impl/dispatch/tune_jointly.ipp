#pragma once

#include <cmath>
#include <cstddef>
#include <memory>
#include <vector>

#include <tilewright/dispatch/tune_jointly.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::dispatch {
namespace detail {

/// Claims of keys, given back at the end.
class held_leases {
 public:
  explicit held_leases(search::database& db) : db_(db) {}
  ~held_leases() {
    for (const search::record_key& key : held_) db_.release(key);
  }
  held_leases(const held_leases&) = delete;
  held_leases& operator=(const held_leases&) = delete;

  /// @returns false where another process has it
  bool take(const search::record_key& key, double seconds) {
    if (support::contains(held_, key)) return true;
    if (!db_.lease(key, seconds)) return false;
    held_.push_back(key);
    return true;
  }

 private:
  search::database& db_;
  std::vector<search::record_key> held_;
};

}  // namespace detail

TILEWRIGHT_INLINE search::joint_result tune_jointly(const std::vector<tuning_request>& requests,
                                                    const jointly_options& options) {
  std::vector<std::unique_ptr<tuning_task>> tasks;
  std::vector<search::joint_task> joint;
  for (const tuning_request& r : requests) {
    r.with_arguments([&](const call_argument* a) {
      tasks.push_back(std::make_unique<tuning_task>(r.op()->tuning(a)));
    });
    joint.push_back({&tasks.back()->what, r.weight()});
    if (tasks.back()->records != tasks.front()->records)
      throw argument_error(
          "tune_jointly: requests have to share a database; give their ops the same one");
  }
  if (tasks.empty()) throw argument_error("tune_jointly: there is nothing to tune");
  search::database& db = *tasks.front()->records;
  detail::held_leases leases(db);
  for (const auto& t : tasks)
    if (!leases.take(t->what.key, 2 * options.seconds + 120))
      throw argument_error("tune_jointly: another process is tuning " + t->what.function.name +
                           " at " + search::write_numbers(t->what.extents) + " now");
  search::joint_options all;
  all.session = tasks.front()->session;
  all.session.seconds = options.seconds;
  all.session.trials = options.trials;
  all.session.seed = options.seed;
  all.session.cancelled = options.cancelled;
  all.session.events = options.events;
  all.traces = options.traces;
  search::joint_result out = search::tune_jointly(joint, all, db);
  for (const tuning_request& r : requests)
    r.with_arguments([&](const call_argument* a) { r.op()->reload(a); });
  return out;
}

}  // namespace tilewright::dispatch
