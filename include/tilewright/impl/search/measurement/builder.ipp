#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include <tilewright/backend/compile.hpp>
#include <tilewright/impl/backend/cuda/compile_stop.hpp>
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
  return detail::built_of([&] { return detail::lowered_in_parts(scheduled, *where.cpu); },
                          *where.cpu);
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
    bool gone = false;  // to who takes any
  };

  std::vector<ir::function> programs;
  target::machine where;
  builder make;
  clock::duration deadline;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<slot> slots;
  std::size_t next = 0, taken = 0;
  std::atomic<bool> ended{false};  // changed under the lock
  bool waiting = false;            // for the last one taken
  /// Programs that a thread takes at a time: several where the compiler takes them in one run.
  std::size_t together = 1;
  double compile_deadline = 0;  // s, of such a run; 0: there are none
  std::vector<std::thread> threads;
  int at_work = 0;  // threads that take programs; 0: whoever waits for a program makes it

  explicit state(const target::machine& m) : where(m) {}

  /// Of this thread alone, and for good.
  static void stand_back() {
    constexpr int behind = 10;
    (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), behind);
  }

  void start_thread(kind k) {
    std::thread fresh = support::start_thread([this, k] { work(k); });
    if (!fresh.joinable()) return;  // no more are to be had
    threads.push_back(std::move(fresh));
    ++at_work;
  }

  void know_size() {
    constexpr std::size_t few = 4;  // so that all threads have some
    together = detail::are_small(programs, *where.gpu) ? few : 1;
  }

  bool may_begin(kind k) const {
    if (next == programs.size()) return false;
    if (k == kind::between && !(waiting && !slots[taken - 1].done)) return false;
    return next < taken + ahead;
  }

  std::vector<ir::function>::const_iterator at(std::size_t i) const {
    return programs.begin() + static_cast<std::ptrdiff_t>(i);
  }

  built made(const ir::function& program) const {
    try {
      return make(program, where);
    } catch (const std::exception& e) {
      built out;
      out.error = e.what();
      return out;
    }
  }

  std::vector<built> made(const std::vector<ir::function>& some) const {
    if (some.size() == 1) return {made(some[0])};
    return detail::kernels_of_all(some, *where.gpu, compile_deadline);
  }

  void work(kind k) {
    if (where.gpu) stand_back();
    const backend::cuda::detail::compile_stop stop(ended);
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return ended || may_begin(k); });
      if (ended) return;
      const std::size_t first = next;
      do {
        slots[next].begun = clock::now();
        slots[next].by = k;
        slots[next].running = true;
        ++next;
      } while (next < programs.size() && next < first + together && may_begin(k));
      const std::size_t end = next;
      const std::vector<ir::function> mine{at(first), at(end)};
      changed.notify_all();
      lock.unlock();
      std::vector<built> all = made(mine);
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
    if (!changed.wait_until(lock, s.begun + deadline, [&] { return s.done; })) give_up(s);
  }

  /// Of what is being built: another thread is in the place of the one that goes on with it.
  void give_up(slot& s) {
    s.result = {};
    s.result.late = true;
    s.result.error = "took longer than its deadline to compile";
    s.done = true;
    --at_work;
    start_thread(s.by);
  }

  /// Under the lock; waits for the first program to be ready of those not gone.
  std::size_t wait_for_any(std::unique_lock<std::mutex>& lock) {
    for (;;) {
      slot* oldest = nullptr;  // of those that are being built
      for (std::size_t k = 0; k < next; ++k) {
        if (slots[k].gone) continue;
        if (slots[k].done) return k;
        if (!oldest || slots[k].begun < oldest->begun) oldest = &slots[k];
      }
      if (oldest) {
        if (changed.wait_until(lock, oldest->begun + deadline) == std::cv_status::timeout &&
            !oldest->done)
          give_up(*oldest);
      } else if (at_work == 0) {
        const std::size_t k = next++;
        slots[k].result = made(programs[k]);
        slots[k].running = slots[k].done = true;
      } else {
        changed.wait(lock);
      }
    }
  }
};

TILEWRIGHT_INLINE build_queue::build_queue(std::vector<ir::function> programs,
                                           const target::machine& where, build_threads threads,
                                           builder make, double deadline)
    : state_(new state(where)) {
  const bool ours = !make;
  if (!make)
    make = [deadline](const ir::function& f, const target::machine& m) {
      return build(f, m, deadline);
    };
  state_->make = std::move(make);
  if (ours && where.gpu) state_->compile_deadline = deadline;
  add(std::move(programs));
  state_->deadline = std::chrono::duration_cast<state::clock::duration>(
      std::chrono::duration<double>(std::min(deadline, 1e6)));
  state_->ahead = std::max(
      state_->ahead, 2 * static_cast<std::size_t>(std::max(threads.beside + threads.between, 0)));
  for (int t = 0; t < threads.beside; ++t) state_->start_thread(state::kind::beside);
  for (int t = 0; t < threads.between; ++t) state_->start_thread(state::kind::between);
}

TILEWRIGHT_INLINE void build_queue::add(std::vector<ir::function> more) {
  {
    const std::lock_guard lock(state_->mutex);
    const bool first = state_->programs.empty();
    for (ir::function& f : more) state_->programs.push_back(std::move(f));
    state_->slots.resize(state_->programs.size());
    if (first && state_->compile_deadline > 0) state_->know_size();
  }
  state_->changed.notify_all();
}

TILEWRIGHT_INLINE void build_queue::end() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->ended = true;
  }
  state_->changed.notify_all();
}

TILEWRIGHT_INLINE build_queue::~build_queue() {
  end();
  for (std::thread& t : state_->threads) t.join();
}

TILEWRIGHT_INLINE built build_queue::take(std::size_t i) {
  std::unique_lock lock(state_->mutex);
  state_->taken = i + 1;
  if (state_->at_work == 0 && !state_->slots[i].running) {
    state_->next = std::max(state_->next, i + 1);
    return state_->made(state_->programs[i]);
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

TILEWRIGHT_INLINE std::pair<std::size_t, built> build_queue::take_any() {
  std::unique_lock lock(state_->mutex);
  ++state_->taken;
  state_->changed.notify_all();
  const std::size_t i = state_->wait_for_any(lock);
  state_->slots[i].gone = true;
  return {i, std::move(state_->slots[i].result)};
}

TILEWRIGHT_INLINE bool build_queue::all_begun() const {
  const std::lock_guard lock(state_->mutex);
  return state_->next == state_->slots.size();
}

}  // namespace tilewright::search
