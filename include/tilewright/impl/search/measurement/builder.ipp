#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include <tilewright/backend/compile.hpp>
#include <tilewright/impl/search/built_parts.hpp>
#include <tilewright/pass/gpu/lower_gpu.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/search/measurement/builder.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/thread.hpp>
#include <tilewright/target/cpu.hpp>
#include <tilewright/target/gpu.hpp>

namespace tilewright::search {

TILEWRIGHT_INLINE built build(const ir::function& scheduled, const target::machine& where,
                              double deadline) {
  if (where.gpu)
    return detail::kernels_of([&] { return pass::lower(scheduled, *where.gpu); }, *where.gpu,
                              deadline);
  return detail::built_of([&] { return pass::lower_prepared(scheduled, *where.cpu); }, *where.cpu);
}

struct build_queue::state {
  // A few finished candidates ahead of the measurement are enough; more would only hold memory.
  // Threads that wait for other machines all have one at hand.
  std::size_t ahead = 8;
  using clock = std::chrono::steady_clock;

  enum class kind { beside, between };

  struct slot {
    built result;
    clock::time_point begun{};
    kind by = kind::beside;
    bool running = false, done = false;
  };

  std::vector<ir::function> programs;
  target::machine where;
  builder make;
  clock::duration deadline;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<slot> slots;
  std::size_t next = 0, taken = 0;
  bool ended = false, waiting = false;  // waiting: for the last one taken
  /// Programs that a thread takes at a time: several where the compiler takes them in one run.
  std::size_t together = 1;
  double compile_deadline = 0;  // s, of such a run
  std::vector<std::thread> threads;
  int at_work = 0;  // threads that take programs; 0: whoever waits for a program makes it

  explicit state(const target::machine& m) : where(m) {}

  void start_thread(kind k) {
    std::thread fresh = support::start_thread([this, k] { work(k); });
    if (!fresh.joinable()) return;  // no more are to be had
    threads.push_back(std::move(fresh));
    ++at_work;
  }

  bool may_begin(kind k) const {
    if (k == kind::between && !(waiting && !slots[taken - 1].done)) return false;
    return next < taken + ahead;
  }

  built made(std::size_t i) const {
    try {
      return make(programs[i], where);
    } catch (const std::exception& e) {
      built out;
      out.error = e.what();
      return out;
    }
  }

  std::vector<built> made(std::size_t first, std::size_t end) const {
    if (end == first + 1) return {made(first)};
    return detail::kernels_of_all({programs.begin() + static_cast<std::ptrdiff_t>(first),
                                   programs.begin() + static_cast<std::ptrdiff_t>(end)},
                                  *where.gpu, compile_deadline);
  }

  void work(kind k) {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return ended || next == programs.size() || may_begin(k); });
      if (ended || next == programs.size()) return;
      const std::size_t first = next;
      do {
        slots[next].begun = clock::now();
        slots[next].by = k;
        slots[next].running = true;
        ++next;
      } while (next < programs.size() && next < first + together && may_begin(k));
      const std::size_t end = next;
      changed.notify_all();
      lock.unlock();
      std::vector<built> all = made(first, end);
      lock.lock();
      bool given_up = false;  // another thread is in this one's place
      for (std::size_t i = first; i < end; ++i) {
        given_up = given_up || slots[i].done;
        if (slots[i].done) continue;
        slots[i].result = std::move(all[i - first]);
        slots[i].done = true;
      }
      changed.notify_all();
      if (given_up) return;
    }
  }

  /// Under the lock; waits for program `i` until its deadline.
  void wait_for(std::unique_lock<std::mutex>& lock, std::size_t i) {
    slot& s = slots[i];
    changed.wait(lock, [&] { return s.running; });
    if (changed.wait_until(lock, s.begun + deadline, [&] { return s.done; })) return;
    s.result = {};
    s.result.late = true;
    s.result.error = "took longer than its deadline to compile";
    s.done = true;
    --at_work;
    start_thread(s.by);
  }
};

TILEWRIGHT_INLINE build_queue::build_queue(std::vector<ir::function> programs,
                                           const target::machine& where, build_threads threads,
                                           builder make, double deadline)
    : state_(new state(where)) {
  state_->slots.resize(programs.size());
  state_->programs = std::move(programs);
  if (!make && where.gpu) {
    constexpr std::size_t few = 4;  // so that all threads have some
    state_->together = detail::are_small(state_->programs, *where.gpu) ? few : 1;
    state_->compile_deadline = deadline;
  }
  if (!make)
    make = [deadline](const ir::function& f, const target::machine& m) {
      return build(f, m, deadline);
    };
  state_->make = std::move(make);
  state_->deadline = std::chrono::duration_cast<state::clock::duration>(
      std::chrono::duration<double>(std::min(deadline, 1e6)));
  state_->ahead = std::max(
      state_->ahead, 2 * static_cast<std::size_t>(std::max(threads.beside + threads.between, 0)));
  for (int t = 0; t < threads.beside; ++t) state_->start_thread(state::kind::beside);
  for (int t = 0; t < threads.between; ++t) state_->start_thread(state::kind::between);
}

TILEWRIGHT_INLINE build_queue::~build_queue() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->ended = true;
  }
  state_->changed.notify_all();
  for (std::thread& t : state_->threads) t.join();
}

TILEWRIGHT_INLINE built build_queue::take(std::size_t i) {
  std::unique_lock lock(state_->mutex);
  state_->taken = i + 1;
  if (state_->at_work == 0 && !state_->slots[i].running) {
    state_->next = std::max(state_->next, i + 1);
    return state_->made(i);
  }
  state_->waiting = true;
  state_->changed.notify_all();
  state_->wait_for(lock, i);
  state_->waiting = false;
  std::vector<state::slot>& slots = state_->slots;
  for (std::size_t k = 0; k < slots.size(); ++k)
    if (slots[k].running && slots[k].by == state::kind::between) state_->wait_for(lock, k);
  return std::move(slots[i].result);
}

}  // namespace tilewright::search
