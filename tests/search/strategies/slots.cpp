#include <tilewright/impl/search/strategies/slots.hpp>

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <stdexcept>
#include <thread>

#include <tilewright/support/any.hpp>

using tilewright::search::detail::for_slots;

TEST_CASE("slots: each runs once, on however many threads") {
  for (const int threads : {0, 1, 2, 7, 200}) {
    INFO(threads);
    std::array<std::atomic<int>, 100> runs{};
    CHECK(for_slots(runs.size(), threads, {}, [&](std::size_t i) { ++runs[i]; }) == runs.size());
    CHECK(tilewright::support::all(runs, [](const auto& n) { return n == 1; }));
  }
  CHECK(for_slots(0, 3, {}, [](std::size_t) { FAIL("there is no slot"); }) == 0);
}

TEST_CASE("slots: where it is over, those have run that come before it") {
  for (const int threads : {1, 2, 5}) {
    INFO(threads);
    std::array<std::atomic<int>, 1000> runs{};
    int asked = 0;
    const std::size_t ran = for_slots(
        runs.size(), threads, [&] { return ++asked > 10; },
        [&](std::size_t i) {
          ++runs[i];
          std::this_thread::yield();
        });
    if (ran < runs.size()) CHECK(ran >= 10);
    for (std::size_t i = 0; i < runs.size(); ++i) CHECK(runs[i] == (i < ran ? 1 : 0));
  }
  CHECK(for_slots(
            5, 2, [] { return true; }, [](std::size_t) {}) <= 5);
}

TEST_CASE("slots: a failure on this thread waits for the helpers") {
  std::atomic<int> inside{0};
  std::atomic<bool> failed{false};  // until then helpers leave the other slots to this thread
  const auto here = std::this_thread::get_id();
  CHECK_THROWS_AS(for_slots(1000, 3, {},
                            [&](std::size_t) {
                              if (std::this_thread::get_id() == here) {
                                failed = true;
                                throw std::runtime_error("no");
                              }
                              ++inside;
                              while (!failed) std::this_thread::yield();
                              --inside;
                            }),
                  std::runtime_error);
  CHECK(inside == 0);
}
