#include <tilewright/support/threads/stack.hpp>

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <thread>

using namespace tilewright::support;

namespace {

/// What `work` gives on a thread with so many bytes of stack.
template <class Work>
auto on_thread_with(std::size_t bytes, Work work) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, bytes);
  decltype(work()) out{};
  const auto body = [&] { out = work(); };
  pthread_t thread;
  const auto run = [](void* of) -> void* {
    (*static_cast<decltype(&body)>(of))();
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &attributes, run,
                         const_cast<void*>(static_cast<const void*>(&body))) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  return out;
}

}  // namespace

TEST_CASE("a thread knows how much of its stack is left") {
  const std::size_t small = on_thread_with(256 << 10, [] { return stack_left(); });
  CHECK(small > 0);
  CHECK(small <= 256 << 10);
  CHECK(on_thread_with(4 << 20, [] { return stack_left(); }) > 1 << 20);
  CHECK(stack_left() > 0);
}

TEST_CASE("work that needs more stack than there is runs on another thread") {
  const auto elsewhere = [](std::size_t bytes) {
    return on_thread_with(256 << 10, [bytes] {
      const std::thread::id here = std::this_thread::get_id();
      return with_stack(bytes, [&] { return std::this_thread::get_id() != here; });
    });
  };
  CHECK_FALSE(elsewhere(16 << 10));
  CHECK(elsewhere(1 << 20));
  CHECK(on_thread_with(256 << 10, [] {
    try {
      with_stack(1 << 20, []() -> int { throw std::runtime_error("thrown there"); });
    } catch (const std::runtime_error& e) {
      return std::string(e.what()) == "thrown there";
    }
    return false;
  }));
}
