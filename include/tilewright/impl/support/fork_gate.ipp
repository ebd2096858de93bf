#pragma once

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include <tilewright/support/find.hpp>
#include <tilewright/support/fork_gate.hpp>

namespace tilewright::support {
namespace detail {
namespace gate_parts {

inline constexpr std::uint32_t closed = std::uint32_t{1} << 31;

/// The number of threads inside, and whether one waits to fork.
inline constinit std::atomic<std::uint32_t> state{0};
inline constinit std::atomic<std::uint64_t> generation{0};
inline constinit thread_local std::uint32_t depth = 0;      // passes of this thread
inline constinit thread_local bool closed_by_this = false;  // this thread forks

/// Waits until the state is one that `wanted` accepts.
template <class Wanted>
std::uint32_t await(const Wanted& wanted) noexcept {
  for (;;) {
    const std::uint32_t now = state.load(std::memory_order_acquire);
    if (wanted(now)) return now;
    state.wait(now);
  }
}
inline bool is_open(std::uint32_t s) noexcept { return (s & closed) == 0; }
inline bool is_left(std::uint32_t s) noexcept { return s == closed; }

struct hooks {
  struct entry {
    const fork_hook* of;
    void (*before)(void*);
    void* context;
  };
  std::mutex mutex;  // taken inside of the gate
  std::vector<entry> list;

  static hooks& all() {
    static auto* made = new hooks;  // outlives static destruction
    return *made;
  }
};

inline void before_fork() {
  // A thread that forks inside (in a signal's handler, say) finds its own work halfway in the child
  // in any case, and two of them would wait for each other.
  if (depth != 0) return;
  for (;;) {
    std::uint32_t now = await(is_open);  // one fork at a time
    if (state.compare_exchange_weak(now, now | closed)) break;
  }
  await(is_left);
  closed_by_this = true;
  depth = 1;  // a hook may need a pass
  for (const hooks::entry& h : hooks::all().list) h.before(h.context);
  depth = 0;
}

inline void after_fork() {
  if (!closed_by_this) return;
  closed_by_this = false;
  state.fetch_and(~closed);
  state.notify_all();
}

inline void after_fork_in_child() {
  closed_by_this = false;
  state.store(depth != 0 ? 1 : 0);
  generation.fetch_add(1);
}

// When the program starts, so that no fork falls into the registration.
[[maybe_unused]] inline const int registered =
    ::pthread_atfork(&before_fork, &after_fork, &after_fork_in_child);

}  // namespace gate_parts

TILEWRIGHT_INLINE void enter_fork_gate() noexcept {
  using namespace gate_parts;
  if (depth++ != 0) return;
  for (;;) {
    std::uint32_t now = await(is_open);
    if (state.compare_exchange_weak(now, now + 1, std::memory_order_acquire)) return;
  }
}

TILEWRIGHT_INLINE void leave_fork_gate() noexcept {
  using namespace gate_parts;
  if (--depth != 0) return;
  if (state.fetch_sub(1, std::memory_order_release) == closed + 1) state.notify_all();
}

}  // namespace detail

TILEWRIGHT_INLINE fork_hook::fork_hook(void (*before)(void*), void* of) {
  const fork_pass inside;
  detail::gate_parts::hooks& all = detail::gate_parts::hooks::all();
  const std::lock_guard lock(all.mutex);
  all.list.push_back({this, before, of});
}

TILEWRIGHT_INLINE fork_hook::~fork_hook() {
  const fork_pass inside;
  detail::gate_parts::hooks& all = detail::gate_parts::hooks::all();
  const std::lock_guard lock(all.mutex);
  all.list.erase(support::find(all.list, [&](const auto& e) { return e.of == this; }));
}

TILEWRIGHT_INLINE std::uint64_t fork_generation() noexcept {
  return detail::gate_parts::generation.load(std::memory_order_relaxed);
}

}  // namespace tilewright::support
