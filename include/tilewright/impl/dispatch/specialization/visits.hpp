// Calls that are in the middle of tuning or compiling: the end of what they use waits for them. And what such
// a call says where it may do neither.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <tilewright/impl/dispatch/specialization/specialization_table.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::dispatch::detail {

using instance_clock = std::chrono::steady_clock;

inline constexpr std::int64_t instance_ticks(double seconds) {
  return std::chrono::duration_cast<instance_clock::duration>(
             std::chrono::duration<double>(seconds))
      .count();
}

inline specialization_table::visit::visit(specialization_table& all) : all_(all) {
  const std::lock_guard lock(all_.sync().mutex);
  here_ = all_.visits_.insert({::getpid(), std::this_thread::get_id(), ++all_.last_visit_}).first;
}

inline specialization_table::visit::~visit() {
  search::detail::process_sync::pair& sy = all_.sync();
  const std::lock_guard lock(sy.mutex);
  all_.visits_.erase(here_);
  sy.changed.notify_all();
}

inline void specialization_table::end_visits() noexcept try {
  constexpr double longest = 10;  // s; a callback of the user may wait for the thread that is here
  search::detail::process_sync::pair& sy = sync();
  const std::int64_t until =
      instance_clock::now().time_since_epoch().count() + instance_ticks(longest);
  std::unique_lock lock(sy.mutex);
  std::vector<visitor> others;  // those that come later are not waited for
  for (const visitor& v : visits_)
    if (std::get<0>(v) == ::getpid() && std::get<1>(v) != std::this_thread::get_id())
      others.push_back(v);
  const auto is_there = [&](const visitor& v) { return visits_.count(v) > 0; };
  while (support::any(others, is_there) && !handler_is_slow() &&
         instance_clock::now().time_since_epoch().count() < until) {
    for (const auto& [name, s] : all_) s->cancelled = true;  // also what has begun since
    sy.changed.wait_for(lock, std::chrono::milliseconds(20));
  }
} catch (const std::exception&) {  // no lock or memory is to be had: nobody can be waited for
}

/// What to do about a call for which nothing is stored.
inline std::string specialization_table::tune_first(const search::workload& w) const {
  if (db_->chosen(w.key))
    return "make the code again, by warm() of an op with mode::now where LLVM can be opened, or "
           "write "
           "mode::off";
  std::string text = "tune ";
  std::set<std::string> said;
  std::size_t at = 0;
  for (const parameter_signature& p : kernel_.params)
    for (std::size_t k = 0; k < p.extent_count(); ++k, ++at)
      if (const std::string& name = p.dim(k).name; !name.empty() && said.insert(name).second)
        text += (said.size() > 1 ? ", " : "") + name + " = " + std::to_string(w.extents[at]);
  if (said.empty()) text += kernel_.name;
  const std::string file = db_->path();
  return text + " before, by warm() of an op with mode::now, the same database (" +
         (file.empty() ? "none" : file) + ") and " + std::to_string(w.key.threads) +
         (w.key.threads == 1 ? " thread" : " threads") + ", or write mode::off";
}

}  // namespace tilewright::dispatch::detail
