// Ends threads before the process's static objects end, which they use.
#pragma once

#include <link.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

#include <tilewright/support/fork_mutex.hpp>

namespace tilewright::dispatch::detail {

/// While one lives, the process's exit calls a function, before it destroys what there was at the
/// last call of `come_first`: a library that was opened since the object was made, for example.
class exit_entry {
 public:
  /// @param begin is called when the main thread ends, which an exit from there does before all else: of
  /// objects that it has made, in programs that hold the library themselves; null: nothing is
  exit_entry(void (*end)(void*), void* of, void (*begin)(void*) = nullptr)
      : end_(end), begin_(begin), of_(of) {
    if (begin && ::gettid() == ::getpid() && is_in_program()) {
      static thread_local const main_thread_end here;
      (void)here;
    }
    const std::lock_guard lock(live().mutex);
    live().all.push_back(this);
  }
  /// Waits for the function where it runs.
  ~exit_entry() {
    {
      const std::lock_guard lock(live().mutex);
      live().all.erase(std::remove(live().all.begin(), live().all.end(), this), live().all.end());
    }
    for (std::uint32_t seen = 0; is_called(seen);) live().returns.wait(seen);
  }
  exit_entry(const exit_entry&) = delete;
  exit_entry& operator=(const exit_entry&) = delete;

  /// Whether the process's exit has come to these functions: what was opened before may be gone.
  static bool process_ends() { return live().ends == ::getpid(); }

  /// @param done remembers that it was called from this place
  static void come_first(std::atomic<bool>& done) {
    const support::fork_pass inside;
    if (!done.exchange(true)) std::atexit(&end_all);
  }

 private:
  struct list {
    support::fork_mutex mutex;
    std::vector<exit_entry*> all;
    const exit_entry* called = nullptr;  // its function runs, in process `caller`
    pid_t caller = 0;
    std::atomic<std::uint32_t> returns{0};  // of all functions
    std::atomic<pid_t> ends{0};             // the process that ends
  };
  static list& live() {
    const support::fork_pass inside;
    static auto* made = new list;  // outlives static destruction
    return *made;
  }

  /// @param returns of all functions, at this time
  bool is_called(std::uint32_t& returns) const {
    const std::lock_guard lock(live().mutex);
    returns = live().returns;
    return live().called == this && live().caller == ::getpid();
  }

  /// What the thread ends first of all. A shared object has none: it could not be unloaded before.
  struct main_thread_end {
    ~main_thread_end() { call_all(true); }
  };

  /// Whether this code is part of the program, rather than of a shared object.
  static bool is_in_program() {
    const auto look = [](dl_phdr_info* object, std::size_t, void* answer) {
      const auto here = reinterpret_cast<std::uintptr_t>(&is_in_program);
      for (int i = 0; i < object->dlpi_phnum; ++i) {
        const auto& part = object->dlpi_phdr[i];
        const std::uintptr_t begin = object->dlpi_addr + part.p_vaddr;
        if (part.p_type == PT_LOAD && begin <= here && here - begin < part.p_memsz)
          *static_cast<bool*>(answer) = true;
      }
      return 1;  // the program is the first one
    };
    bool answer = false;
    ::dl_iterate_phdr(look, &answer);
    return answer;
  }

  /// One that has not been called in this process, and is from now on; null: none.
  static const exit_entry* next(bool begins) {
    const std::lock_guard lock(live().mutex);
    for (exit_entry* e : live().all) {
      pid_t& called_in = begins ? e->begun_in_ : e->called_in_;
      if (std::exchange(called_in, ::getpid()) == ::getpid()) continue;
      live().caller = ::getpid();
      return live().called = e;
    }
    return nullptr;
  }
  static void returned() {
    const std::lock_guard lock(live().mutex);
    live().called = nullptr;
    ++live().returns;
    live().returns.notify_all();
  }

  // Outside of the lock: threads may need a pass to end, and another one may wait to fork.
  static void end_all() {
    live().ends = ::getpid();
    call_all(false);
  }
  static void call_all(bool begins) {
    while (const exit_entry* e = next(begins)) {
      if (void (*const call)(void*) = begins ? e->begin_ : e->end_) call(e->of_);
      returned();
    }
  }

  void (*end_)(void*);
  void (*begin_)(void*);
  void* of_;
  pid_t called_in_ = 0, begun_in_ = 0;
};

}  // namespace tilewright::dispatch::detail
