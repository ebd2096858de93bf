// Coroutines: of C++, which go on on another thread than they began on, and with a small stack of their
// own, as libraries of fibers make them.
#include <sys/mman.h>
#include <ucontext.h>

#include <coroutine>
#include <thread>

#include "host.hpp"

using namespace host;

namespace {

struct task {
  struct promise_type {
    task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { expect(false, "an exception in a coroutine"); }
  };
  std::coroutine_handle<promise_type> handle;
};

template <class Op>
task calls(const Op& op) {
  for (std::size_t n = 10; n < 40; n += 10) {
    call(op, n, "in a coroutine, the first time");
    co_await std::suspend_always{};
    call(op, n, "in a coroutine, on the next thread");
    co_await std::suspend_always{};
  }
}

ucontext_t outside, inside;
const tuned<std::remove_const_t<decltype(scale)>>* fiber_op = nullptr;

void fiber() {
  for (const std::size_t n : {50u, 60u}) {
    call(*fiber_op, n, "in a fiber, the first time");
    swapcontext(&inside, &outside);
    call(*fiber_op, n, "in a fiber, again");
    expect(!report(*fiber_op, n).empty(), "a report in a fiber");
    swapcontext(&inside, &outside);
  }
}

}  // namespace

int main() {
  for (const mode m : {mode::now, mode::background}) {
    const tuned op{scale, quick(m)};
    const task t = calls(op);
    while (!t.handle.done()) std::thread([&] { t.handle.resume(); }).join();
    t.handle.destroy();
  }
  const tuned op{scale, quick()};
  fiber_op = &op;
  constexpr std::size_t bytes = 64 << 10;  // below them nothing may be written
  void* stack =
      mmap(nullptr, 2 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(stack, bytes, PROT_NONE);
  getcontext(&inside);
  inside.uc_stack.ss_sp = static_cast<char*>(stack) + bytes;
  inside.uc_stack.ss_size = bytes;
  inside.uc_link = &outside;
  makecontext(&inside, &fiber, 0);
  for (int resumed = 0; resumed < 4; ++resumed) swapcontext(&outside, &inside);
}
