#include <tilewright/support/fork_mutex.hpp>

#include <doctest/doctest.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "support/forks.hpp"

using namespace tilewright::support;
using namespace forks;

TEST_CASE("a child finds it free, and what it guards whole" * doctest::skip(!forks_usable)) {
  fork_mutex mutex;
  int a = 0, b = 0;
  const crowd many(4, [&] {
    const std::lock_guard lock(mutex);
    ++a;
    nap(0);
    ++b;
  });
  for (int i = 0; i < 100; ++i)
    CHECK(in_child([&] {
            const std::lock_guard lock(mutex);
            return a == b ? 0 : 1;
          }) == 0);
}

TEST_CASE("who waits for a condition keeps no fork waiting" * doctest::skip(!forks_usable)) {
  fork_mutex mutex;
  std::condition_variable_any changed;
  bool done = false;
  std::thread waiting([&] {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return done; });
  });
  for (int i = 0; i < 10; ++i)
    CHECK(in_child([&] {
            const std::lock_guard lock(mutex);
            return 0;
          }) == 0);
  {
    const std::lock_guard lock(mutex);
    done = true;
  }
  changed.notify_all();
  waiting.join();
}
