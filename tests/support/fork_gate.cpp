#include <tilewright/support/fork_gate.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "support/forks.hpp"

using namespace tilewright::support;
using namespace forks;

TEST_CASE("a child finds nothing halfway, and the gate open" * doctest::skip(!forks_usable)) {
  std::atomic<int> begun{0}, ended{0};
  const crowd many(4, [&] {  // some thread is inside nearly all the time
    const fork_pass inside;
    ++begun;
    nap(1);
    ++ended;
  });
  for (int i = 0; i < 50; ++i)
    CHECK(in_child([&] {
            if (begun != ended) return 1;
            std::thread other([] { const fork_pass inside; });
            other.join();
            const fork_pass inside;
            return 0;
          }) == 0);
}

TEST_CASE("who is inside may go in again while a fork waits" * doctest::skip(!forks_usable)) {
  for (int i = 0; i < 20; ++i) {
    std::atomic<bool> inside{false}, twice{false};
    std::thread worker([&] {
      const fork_pass one;
      inside = true;
      nap(5);
      const fork_pass two;
      nap(1);
      twice = true;
    });
    while (!inside) std::this_thread::yield();
    CHECK(in_child([&] { return twice ? 0 : 1; }) == 0);
    worker.join();
  }
}

TEST_CASE("a thread that forks inside waits for nobody" * doctest::skip(!forks_usable)) {
  const fork_pass inside;
  std::atomic<bool> there{false}, gone{false};
  std::thread other([&] {
    const fork_pass also;
    there = true;
    while (!gone) nap(1);
  });
  while (!there) nap(1);
  CHECK(in_child([] {
          const fork_pass twice;
          return 0;
        }) == 0);
  gone = true;
  other.join();
}

TEST_CASE("several threads fork, and their children too" * doctest::skip(!forks_usable)) {
  const crowd many(2, [] {
    { const fork_pass inside; }
    nap(0);
  });
  const std::uint64_t here = fork_generation();
  std::atomic<int> wrong{0};
  std::vector<std::thread> forking;
  for (int t = 0; t < 3; ++t)
    forking.emplace_back([&] {
      for (int i = 0; i < 20; ++i)
        if (in_child([&] {
              if (fork_generation() != here + 1) return 1;
              return in_child([&] { return fork_generation() == here + 2 ? 0 : 2; });
            }) != 0)
          ++wrong;
    });
  for (std::thread& t : forking) t.join();
  CHECK(wrong == 0);
  CHECK(fork_generation() == here);
}

TEST_CASE("a hook runs before a fork, when nobody is inside" * doctest::skip(!forks_usable)) {
  struct counts {
    std::atomic<int> inside{0}, calls{0}, wrong{0};
  } n;
  const crowd many(3, [&] {
    const fork_pass inside;
    ++n.inside;
    nap(1);
    --n.inside;
  });
  {
    const fork_hook hook(
        [](void* of) {
          auto* seen = static_cast<counts*>(of);
          const fork_pass inside;
          ++seen->calls;
          if (seen->inside != 0) ++seen->wrong;
        },
        &n);
    for (int i = 1; i <= 10; ++i) CHECK(in_child([&] { return n.calls.load(); }) == i);
  }
  CHECK(in_child([&] { return n.calls.load(); }) == 10);
  CHECK(n.wrong == 0);
}
