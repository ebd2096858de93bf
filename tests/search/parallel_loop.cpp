#include <tilewright/impl/search/parallel_loop.hpp>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

using namespace tilewright;
using search::detail::parallel_loop;

TEST_CASE("parallel loop: each iteration runs once, on one thread and on several") {
  for (const int threads : {1, 2, 4}) {
    backend::pool pool(threads);
    std::vector<std::atomic<int>> times(1000);
    const std::vector<char> done =
        parallel_loop(pool.view(), times.size(), {}, [&](std::size_t i) { ++times[i]; });
    CHECK(std::all_of(times.begin(), times.end(), [](const auto& n) { return n == 1; }));
    CHECK(std::count(done.begin(), done.end(), 1) == 1000);
    CHECK(parallel_loop(pool.view(), 0, {}, [](std::size_t) {}).empty());
  }
}

TEST_CASE("parallel loop: what is over begins no iteration, and is asked on the caller's thread") {
  for (const int threads : {1, 3}) {
    backend::pool pool(threads);
    const std::thread::id caller = std::this_thread::get_id();
    std::atomic<int> ran{0};
    bool elsewhere = false;
    int asked = 0;
    const auto over = [&] {
      elsewhere |= std::this_thread::get_id() != caller;
      return ++asked > 3;
    };
    const std::vector<char> done =
        parallel_loop(pool.view(), 1 << 20, over, [&](std::size_t) { ++ran; });
    CHECK_FALSE(elsewhere);
    CHECK(std::count(done.begin(), done.end(), 1) == ran);
    if (threads == 1) CHECK(ran == 3);
    CHECK(parallel_loop(
              pool.view(), 8, [] { return true; }, [](std::size_t) {})
              .size() == 8);
  }
}

TEST_CASE("parallel loop: an exception of an iteration comes to the caller") {
  for (const int threads : {1, 3}) {
    backend::pool pool(threads);
    const auto third = [](std::size_t i) {
      if (i == 2) throw std::runtime_error("the third");
    };
    CHECK_THROWS_WITH_AS(parallel_loop(pool.view(), 64, {}, third), "the third",
                         std::runtime_error);
    CHECK(parallel_loop(pool.view(), 4, {}, [](std::size_t) {}).size() == 4);  // goes on
  }
}
