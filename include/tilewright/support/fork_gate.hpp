// Work that a fork waits for.
//
// A forked child has one thread. What the others were in the middle of stays so for ever there: a
// lock is held, a table is written by half, a library is halfway through its own. Work on what the
// whole process shares therefore goes through one gate, and fork() waits until nobody is inside: the
// child finds all of it whole and free. What a function makes at its first call and keeps in a static
// is made inside too, since a child would wait for ever for what another thread was making.
#pragma once

#include <cstdint>

#include <tilewright/config.hpp>

namespace tilewright::support {
namespace detail {
void enter_fork_gate() noexcept;
void leave_fork_gate() noexcept;
}  // namespace detail

/// While one lives, no other thread forks this process; where another thread waits to fork, making
/// one waits for that. Inside of another one it is free. For short work, since a fork waits as long:
/// compiling a kernel is the longest that happens often.
/// It requires: 1) the thread that made it destroys it; 2) until then it does not wait for what
/// another thread does with a pass of its own: it joins no thread and waits for no condition.
class fork_pass {
 public:
  fork_pass() noexcept { detail::enter_fork_gate(); }
  ~fork_pass() { detail::leave_fork_gate(); }
  fork_pass(const fork_pass&) = delete;
  fork_pass& operator=(const fork_pass&) = delete;
};

/// While one lives, every fork first calls a function on its thread, when nobody has a pass.
class fork_hook {
 public:
  fork_hook(void (*before)(void*), void* of);
  ~fork_hook();
  fork_hook(const fork_hook&) = delete;
  fork_hook& operator=(const fork_hook&) = delete;
};

/// Forks between the start of the program and this process. Threads that ran at another number are
/// not in this process.
std::uint64_t fork_generation() noexcept;

}  // namespace tilewright::support
