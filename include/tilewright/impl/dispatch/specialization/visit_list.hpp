// Calls that are in the middle of tuning or compiling: the end of what they use waits for them.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <mutex>
#include <set>
#include <thread>
#include <tuple>
#include <vector>

#include <tilewright/impl/search/measurement/process_sync.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::dispatch::detail {

/// All members may be called from any thread.
class visit_list {
 public:
  /// @param sync whose lock guards it; has to outlive this
  explicit visit_list(search::detail::process_sync& sync) : sync_(sync) {}
  visit_list(const visit_list&) = delete;
  visit_list& operator=(const visit_list&) = delete;

  using visitor =
      std::tuple<pid_t, std::thread::id, std::uint64_t>;  // the last is a number of its own

  /// A call that may tune or compile, on the thread that made it.
  class visit {
   public:
    explicit visit(visit_list& all) : all_(all) {
      const std::lock_guard lock(all_.sync_.get().mutex);
      here_ = all_.there_.insert({::getpid(), std::this_thread::get_id(), ++all_.last_}).first;
    }
    ~visit() {
      search::detail::process_sync::pair& sy = all_.sync_.get();
      const std::lock_guard lock(sy.mutex);
      all_.there_.erase(here_);
      sy.changed.notify_all();
    }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;

   private:
    visit_list& all_;
    std::set<visitor>::iterator here_;
  };

  /// Waits until the visits of other threads have ended that are there now, for 10 s at most.
  /// @param tell is called under the lock now and then, so that what has begun since is told to end, too; it
  /// returns whether waiting makes sense
  template <class Tell>
  void end(const Tell& tell) noexcept try {
    using clock = std::chrono::steady_clock;
    search::detail::process_sync::pair& sy = sync_.get();
    constexpr std::chrono::seconds longest(10);  // a callback of the user may wait for who is here
    const clock::time_point until = clock::now() + longest;
    std::unique_lock lock(sy.mutex);
    std::vector<visitor> others;  // those that come later are not waited for
    for (const visitor& v : there_)
      if (std::get<0>(v) == ::getpid() && std::get<1>(v) != std::this_thread::get_id())
        others.push_back(v);
    const auto is_there = [&](const visitor& v) { return there_.count(v) > 0; };
    while (support::any(others, is_there) && clock::now() < until && tell())
      sy.changed.wait_for(lock, std::chrono::milliseconds(20));
  } catch (const std::exception&) {  // no lock or memory is to be had: nobody can be waited for
  }

 private:
  search::detail::process_sync& sync_;
  std::set<visitor> there_;
  std::uint64_t last_ = 0;
};

}  // namespace tilewright::dispatch::detail
