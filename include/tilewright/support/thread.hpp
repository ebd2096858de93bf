// Threads of the library in a program that is not ours.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <system_error>
#include <thread>
#include <utility>

namespace tilewright::support {

/// Starts a thread on which none of the host's signals is handled: they go to the host's own
/// threads. Faults of the code that runs on it are still its own.
/// @returns a thread that is not joinable where the machine gives no more threads
template <class Work>
std::thread start_thread(Work&& work) {
  sigset_t host, all;
  ::sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT})
    ::sigdelset(&all, fault);
  const bool blocked = ::pthread_sigmask(SIG_BLOCK, &all, &host) == 0;  // threads inherit the mask
  std::thread out;
  try {
    out = std::thread(std::forward<Work>(work));
  } catch (const std::system_error&) {
  }
  if (blocked) ::pthread_sigmask(SIG_SETMASK, &host, nullptr);
  return out;
}

}  // namespace tilewright::support
