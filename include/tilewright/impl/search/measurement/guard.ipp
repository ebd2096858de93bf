#pragma once

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>

#include <tilewright/search/measurement/guard.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/fork_mutex.hpp>
#include <tilewright/support/threads/thread_end.hpp>

namespace tilewright::search {
namespace detail {

/// Bytes before and behind the data that are inaccessible.
inline std::size_t guard_bytes() {
  constexpr std::size_t pages = 4;  // rows of an image that borders reach across
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace detail

TILEWRIGHT_INLINE std::size_t guarded_buffer::mapped_for(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page + page;
}

TILEWRIGHT_INLINE guarded_buffer::guarded_buffer(std::size_t bytes, placement at) : bytes_(bytes) {
  place(at, -1, 0);
}

TILEWRIGHT_INLINE guarded_buffer::guarded_buffer(std::size_t bytes, placement at, int descriptor,
                                                 std::size_t offset)
    : bytes_(bytes) {
  place(at, descriptor, offset);
}

/// Reserves inaccessible memory and opens its inner part.
TILEWRIGHT_INLINE void guarded_buffer::place(placement at, int descriptor, std::size_t offset) {
  const std::size_t guard = detail::guard_bytes(), inner = mapped_for(bytes_);
  mapped_ = inner + 2 * guard;
  void* p = ::mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  bool good = p != MAP_FAILED;
  if (good) {
    std::byte* from = static_cast<std::byte*>(p) + guard;
    constexpr int access = PROT_READ | PROT_WRITE;
    good = descriptor < 0 ? ::mprotect(from, inner, access) == 0
                          : ::mmap(from, inner, access, MAP_SHARED | MAP_FIXED, descriptor,
                                   static_cast<off_t>(offset)) == from;
  }
  if (!good) {
    const int reason = errno;
    if (p != MAP_FAILED) ::munmap(p, mapped_);
    throw build_error("no memory for " + std::to_string(bytes_) +
                      " bytes of tuning data: " + std::strerror(reason));
  }
  mapping_ = static_cast<std::byte*>(p);
  const std::size_t end = guard + inner;
  data_ = mapping_ + (end - bytes_ - at.beyond) / at.alignment * at.alignment + at.beyond;
}

TILEWRIGHT_INLINE void guarded_buffer::make_read_only() noexcept {
  const std::size_t guard = detail::guard_bytes();
  if (mapping_) ::mprotect(mapping_ + guard, mapped_ - 2 * guard, PROT_READ);
}

TILEWRIGHT_INLINE void guarded_buffer::open_guards(bool open) const noexcept {
  if (!mapping_) return;
  const std::size_t guard = detail::guard_bytes();
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  for (std::byte* from : {mapping_, mapping_ + mapped_ - guard}) {
    if (::mprotect(from, guard, open ? PROT_READ | PROT_WRITE : PROT_NONE) != 0 || !open) continue;
    // a page is there only once something was written to it
    for (std::size_t at = 0; at < guard; at += page)
      *static_cast<volatile std::byte*>(from + at) = std::byte{0};
  }
}

TILEWRIGHT_INLINE guarded_buffer::~guarded_buffer() {
  if (mapping_) ::munmap(mapping_, mapped_);
}

TILEWRIGHT_INLINE guarded_buffer::guarded_buffer(guarded_buffer&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)),
      mapped_(other.mapped_),
      data_(other.data_),
      bytes_(other.bytes_) {}

TILEWRIGHT_INLINE guarded_buffer& guarded_buffer::operator=(guarded_buffer&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(mapped_, other.mapped_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

namespace detail {

inline constexpr std::array<int, 4> fault_signals{SIGSEGV, SIGBUS, SIGFPE, SIGILL};

struct fault_state {
  support::fork_mutex mutex;
  int users = 0;
  std::array<struct sigaction, fault_signals.size()> before{};
};

inline fault_state& faults() {
  // handlers may run at any time
  static constinit fault_state state;
  static_assert(std::is_trivially_destructible_v<fault_state>);
  return state;
}

/// Where a fault on this thread returns to; null outside guarded calls.
inline thread_local sigjmp_buf* fault_target = nullptr;

inline void fault_chain(int signal, siginfo_t* info, void* context) {
  for (std::size_t i = 0; i < fault_signals.size(); ++i) {
    if (fault_signals[i] != signal) continue;
    const struct sigaction& before = faults().before[i];
    if ((before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction)
      return before.sa_sigaction(signal, info, context);
    if (before.sa_handler == SIG_IGN) return;
    if (before.sa_handler != SIG_DFL) return before.sa_handler(signal);
  }
  ::signal(signal, SIG_DFL);  // the instruction runs again and ends the process as it would have
}

inline void fault_handler(int signal, siginfo_t* info, void* context) {
  if (!fault_target) return fault_chain(signal, info, context);
  siglongjmp(*fault_target, signal);
}

/// A stack for handlers, so that a candidate that overflows its own is caught too.
inline constexpr std::size_t fault_stack_bytes = 64 * 1024;

inline const support::thread_end fault_stack_end{[](void* memory) {
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  ::sigaltstack(&none, nullptr);
  ::munmap(memory, fault_stack_bytes);
}};

/// Gives this thread such a stack, once, unless it has one.
inline void need_fault_stack() {
  static constinit thread_local bool asked = false;
  if (std::exchange(asked, true)) return;
  stack_t now{};
  if (::sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;
  void* const memory = ::mmap(nullptr, fault_stack_bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  stack_t mine{};
  mine.ss_sp = memory;
  mine.ss_size = fault_stack_bytes;
  ::sigaltstack(&mine, nullptr);
  fault_stack_end.ask(memory);
}

}  // namespace detail

TILEWRIGHT_INLINE fault_handlers::fault_handlers() {
  detail::fault_state& state = detail::faults();
  const std::lock_guard lock(state.mutex);
  if (state.users++ != 0) return;
  struct sigaction action {};
  action.sa_sigaction = detail::fault_handler;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < state.before.size(); ++i)
    ::sigaction(detail::fault_signals[i], &action, &state.before[i]);
}

TILEWRIGHT_INLINE fault_handlers::~fault_handlers() {
  detail::fault_state& state = detail::faults();
  const std::lock_guard lock(state.mutex);
  if (--state.users != 0) return;
  for (std::size_t i = 0; i < state.before.size(); ++i) {
    struct sigaction now {};
    ::sigaction(detail::fault_signals[i], nullptr, &now);
    const bool ours = (now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == detail::fault_handler;
    if (ours) ::sigaction(detail::fault_signals[i], &state.before[i], nullptr);
  }
}

TILEWRIGHT_INLINE const char* fault_name(int signal) {
  switch (signal) {
    case SIGSEGV: return "SIGSEGV";
    case SIGBUS: return "SIGBUS";
    case SIGFPE: return "SIGFPE";
    case SIGILL: return "SIGILL";
    default: return "signal";
  }
}

TILEWRIGHT_INLINE int run_guarded(void (*body)(void*), void* context) {
  detail::need_fault_stack();
  sigjmp_buf* const outer = detail::fault_target;
  sigjmp_buf here;
  const int signal = sigsetjmp(here, 0);  // the mask need not be saved: SA_NODEFER leaves it alone
  if (signal == 0) {
    detail::fault_target = &here;
    body(context);
  }
  detail::fault_target = outer;
  return signal;
}

}  // namespace tilewright::search
