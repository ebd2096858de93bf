#include <tilewright/support/threads/thread_end.hpp>

#include <atomic>
#include <optional>
#include <thread>

#include <doctest/doctest.h>

using tilewright::support::thread_end;

namespace {

void count(void* of) { ++*static_cast<std::atomic<int>*>(of); }

}  // namespace

TEST_CASE("thread_end: each thread that asked calls once, with what it said last") {
  const thread_end end(&count);
  std::atomic<int> first{0}, second{0};
  std::thread([&] { end.ask(&first); }).join();
  CHECK(first == 1);
  std::thread([&] {
    end.ask(&first);
    end.ask(&second);
  }).join();
  std::thread([] {}).join();
  CHECK(first == 1);
  CHECK(second == 1);
}

TEST_CASE("thread_end: where it goes first nothing is called, and asking is no mistake") {
  std::atomic<int> calls{0};
  std::optional<thread_end> end(std::in_place, &count);
  std::thread([&] {
    end->ask(&calls);
    end.reset();
  }).join();
  CHECK(calls == 0);
}
