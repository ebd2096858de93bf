#include <tilewright/search/measurement/builder.hpp>

#include <tilewright/target/cpu.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include "search/kernels.hpp"

using namespace tilewright;
using namespace tilewright::search;

namespace {

std::vector<ir::function> roots(int n) {
  std::vector<ir::function> out;
  for (int i = 1; i <= n; ++i) out.push_back(reify(kernels::square_root, {{"N", i}}));
  return out;
}

std::int64_t extent_of(const ir::function& f) { return ir::as_int(f.params[0].buffer->shape[0]); }

/// Says what it built in the error.
built marked(const ir::function& f, const target::machine&) {
  built out;
  out.error = std::to_string(extent_of(f));
  return out;
}

}  // namespace

TEST_CASE("a queue builds in order, whatever the number of threads") {
  for (const build_threads threads : {build_threads{1, 0}, {3, 0}, {0, 2}, {1, 1}}) {
    build_queue q(roots(20), target::host(), threads, marked);
    for (std::size_t i = 0; i < 20; ++i) CHECK(q.take(i).error == std::to_string(i + 1));
  }
}

TEST_CASE("between takes, only the threads that may go on build") {
  std::atomic<int> begun{0}, ended{0};
  const auto counted = [&](const ir::function& f, const target::machine& where) {
    ++begun;
    std::this_thread::sleep_for(std::chrono::milliseconds(extent_of(f) % 3));
    built out = marked(f, where);
    ++ended;
    return out;
  };
  build_queue q(roots(20), target::host(), {0, 3}, counted);
  for (std::size_t i = 0; i < 20; ++i) {
    CHECK(q.take(i).error == std::to_string(i + 1));
    const int there = ended;
    CHECK(begun == there);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    CHECK(begun == there);
  }
  CHECK(begun == 20);
}

TEST_CASE("without a builder of the user's, programs become code") {
  build_queue q(roots(2), target::host(), {2});
  CHECK(q.take(0).code);
  CHECK(q.take(1).code);
}

TEST_CASE("what a builder throws is a failed build") {
  build_queue q(roots(1), target::host(), {1},
                [](const ir::function&, const target::machine&) -> built {
                  throw std::runtime_error("no compiler today");
                });
  const built b = q.take(0);
  CHECK_FALSE(b.code);
  CHECK_FALSE(b.late);
  CHECK(b.error == "no compiler today");
}

TEST_CASE("a program that takes too long to compile is given up, and the next one is built") {
  std::atomic<bool> hold{true};
  const auto slow_second = [&](const ir::function& f, const target::machine& where) {
    while (extent_of(f) == 2 && hold) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return marked(f, where);
  };
  {
    build_queue q(roots(3), target::host(), {1}, slow_second, 0.05);
    CHECK(q.take(0).error == "1");
    const built b = q.take(1);
    CHECK(b.late);
    CHECK(b.error == "took longer than its deadline to compile");
    CHECK(q.take(2).error == "3");
    hold = false;  // the destructor waits for the second
  }
  hold = true;
  build_queue q(roots(3), target::host(), {0, 1}, slow_second, 0.05);
  CHECK_FALSE(q.take(0).late);
  CHECK(q.take(1).late);
  CHECK_FALSE(q.take(2).late);
  hold = false;
}

TEST_CASE("a queue that is dropped does not build what has not begun") {
  std::atomic<int> begun{0};
  {
    build_queue q(roots(50), target::host(), {1},
                  [&](const ir::function& f, const target::machine& where) {
                    ++begun;
                    return marked(f, where);
                  });
    q.take(0);
  }
  CHECK(begun < 50);
}

TEST_CASE("any program that is ready is taken, each once, whatever the number of threads") {
  for (const build_threads threads : {build_threads{1, 0}, {3, 0}, {0, 0}}) {
    build_queue q(roots(20), target::host(), threads, marked);
    std::set<std::size_t> taken;
    for (int n = 0; n < 20; ++n) {
      const auto [i, b] = q.take_any();
      CHECK(b.error == std::to_string(i + 1));
      CHECK(taken.insert(i).second);
    }
    CHECK(q.all_begun());
  }
}

TEST_CASE("a program that takes long to compile does not hold up those behind it") {
  std::atomic<bool> hold{true};
  const auto slow_first = [&](const ir::function& f, const target::machine& where) {
    while (extent_of(f) == 1 && hold) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return marked(f, where);
  };
  build_queue q(roots(12), target::host(), {2, 0}, slow_first);
  for (int n = 0; n < 11; ++n) CHECK(q.take_any().first != 0);
  hold = false;
  CHECK(q.take_any().first == 0);
  hold = true;
  build_queue late(roots(3), target::host(), {1, 0}, slow_first, 0.05);
  const auto [i, b] = late.take_any();
  CHECK(i == 0);
  CHECK(b.late);
  CHECK_FALSE(late.take_any().second.late);
  CHECK_FALSE(late.take_any().second.late);
  hold = false;  // the destructor waits for the first
}

TEST_CASE("programs that are added are built behind the others") {
  build_queue q({}, target::host(), {2, 0}, marked);
  CHECK(q.all_begun());
  std::set<std::string> made;
  for (const int more : {3, 5}) {
    q.add(roots(more));
    for (int n = 0; n < more; ++n) made.insert(q.take_any().second.error);
    CHECK(made.size() == static_cast<std::size_t>(more));
  }
}

TEST_CASE("a queue that has ended begins nothing more") {
  std::atomic<int> begun{0};
  std::atomic<bool> hold{true};
  build_queue q(roots(50), target::host(), {1, 0},
                [&](const ir::function& f, const target::machine& where) {
                  ++begun;
                  while (hold) std::this_thread::sleep_for(std::chrono::milliseconds(1));
                  return marked(f, where);
                });
  while (begun == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK_FALSE(q.all_begun());
  q.end();
  hold = false;
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(begun == 1);
}
