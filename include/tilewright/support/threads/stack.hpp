// Room on the stack of the thread that calls, for work that takes more of it than a host may have
// given: real-time threads and coroutines often have a few pages.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <thread>
#include <utility>

#include <tilewright/support/thread.hpp>

namespace tilewright::support {

/// Bytes between here and the end of this thread's stack; 0 where the stack is none that the system
/// has made for the thread, as that of a coroutine.
inline std::size_t stack_left() {
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return 0;
  void* lowest = nullptr;
  std::size_t size = 0;
  ::pthread_attr_getstack(&attributes, &lowest, &size);
  ::pthread_attr_destroy(&attributes);
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)),
             end = reinterpret_cast<std::uintptr_t>(lowest);
  return here > end && here - end <= size ? here - end : 0;
}

/// Does `work` here where this stack has `bytes` left, else on the stack of a thread that ends with
/// it, and returns or throws what it does. Here, too, where the machine gives no more threads.
template <class Work>
auto with_stack(std::size_t bytes, const Work& work) {
  if (stack_left() >= bytes) return work();
  decltype(work()) out{};
  std::exception_ptr failed;
  std::thread thread = start_thread([&] {
    try {
      out = work();
    } catch (...) {
      failed = std::current_exception();
    }
  });
  if (!thread.joinable()) return work();
  thread.join();
  if (failed) std::rethrow_exception(failed);
  return out;
}

}  // namespace tilewright::support
